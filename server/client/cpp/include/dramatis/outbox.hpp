// What the client sends, until the server has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "frame.hpp"

namespace dramatis {

/// A frame of either kind.
using Frame = std::variant<std::string, Bytes>;

/// Numbers the frames of the client from 1 and keeps them until the server has them. Of sound, only the last 30 seconds are
/// kept; what did not arrive and was dropped counts as lost.
class Outbox {
public:
    void add(double audioMs, const std::function<Frame(std::int64_t)>& write) {
        sequence_ += 1;
        kept_.push_back({sequence_, audioMs, write(sequence_)});
        double sum = 0;
        int events = 0;
        for (const auto& each : kept_) {
            sum += each.audioMs;
            if (each.audioMs == 0) events += 1;
        }
        if (sum > mostAudioMs) giveUp([](const Kept& each) { return each.audioMs > 0; });
        else if (events > mostEvents) giveUp([](const Kept& each) { return each.audioMs == 0; });
    }

    /// The next frame that was not sent yet; null if there is none. Valid until the next call.
    const Frame* next() {
        for (const auto& each : kept_) {
            if (each.sequence <= handed_) continue;
            handed_ = each.sequence;
            return &each.data;
        }
        return nullptr;
    }

    void acknowledge(std::int64_t processed, std::int64_t safe) {
        received_ = std::max(received_, processed);
        drop(kept_, [safe](const Kept& each) { return each.sequence <= safe; });
        drop(doubtful_, [safe](const Kept& each) { return each.sequence <= safe; });
    }

    /// Frames after this one will be sent again. Returns the milliseconds of sound that are lost.
    double resume(std::int64_t processed) {
        received_ = handed_ = processed;
        return takeLost();
    }

    /// Goes on with another server process. What was sent is not sent again: it would be said twice.
    double restart() {
        for (const auto& each : kept_)
            if (each.sequence <= handed_) doubtful_.push_back(each);
        const double lost = takeLost();
        acknowledge(handed_, handed_);
        return lost;
    }

    double reset() {
        doubtful_.insert(doubtful_.end(), kept_.begin(), kept_.end());
        const double lost = takeLost();
        doubtful_.clear();
        kept_.clear();
        sequence_ = handed_ = received_ = 0;
        return lost;
    }

private:
    static constexpr int mostEvents = 1'000;
    static constexpr double mostAudioMs = 30'000;

    struct Kept {
        std::int64_t sequence;
        double audioMs;
        Frame data;
    };

    template <typename Test>
    static void drop(std::vector<Kept>& from, const Test& test) {
        from.erase(std::remove_if(from.begin(), from.end(), test), from.end());
    }

    double takeLost() {
        double sum = lostMs_;
        for (const auto& each : doubtful_)
            if (each.sequence > received_) sum += each.audioMs;
        drop(doubtful_, [this](const Kept& each) { return each.sequence > received_; });
        lostMs_ = 0;
        return sum;
    }

    template <typename Test>
    void giveUp(const Test& isOfKind) {
        const auto found = std::find_if(kept_.begin(), kept_.end(), isOfKind);
        if (found == kept_.end()) return;
        if (found->sequence > handed_) lostMs_ += found->audioMs;
        else doubtful_.push_back(*found);
        kept_.erase(found);
    }

    std::vector<Kept> kept_;
    /// Sound that was sent and dropped before the server had it.
    std::vector<Kept> doubtful_;
    std::int64_t sequence_ = 0;
    std::int64_t handed_ = 0;
    std::int64_t received_ = 0;
    double lostMs_ = 0;
};

}  // namespace dramatis
