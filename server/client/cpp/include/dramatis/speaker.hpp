// The queue of the loudspeaker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "frame.hpp"

namespace dramatis {

/// Plays items one after the other and knows how much of each was heard. `render` may run on the audio thread, everything
/// else on the game's.
class Speaker {
public:
    /// Samples at 24 kHz between `render` and the ear: what the engine's own buffers hold.
    void setLatencySamples(int samples) {
        const std::lock_guard<std::mutex> lock(gate_);
        latency_ = samples;
    }

    /// True from the first samples of an item until it has ended or was stopped.
    bool isPlaying() const {
        const std::lock_guard<std::mutex> lock(gate_);
        return !items_.empty();
    }

    /// Fills the buffer with mono sound at 24 kHz, with silence where there is none.
    void render(std::int16_t* output, int count) {
        const std::lock_guard<std::mutex> lock(gate_);
        std::fill(output, output + count, std::int16_t{0});
        int filled = 0;
        for (const auto& item : items_) {
            const int taken = static_cast<int>(std::min<std::size_t>(item->queued.size(), static_cast<std::size_t>(count - filled)));
            std::copy_n(item->queued.begin(), taken, output + filled);
            item->queued.erase(item->queued.begin(), item->queued.begin() + taken);
            item->rendered += taken;
            filled += taken;
            if (taken > 0) stretches_.push_back({item, clock_ + filled, item->rendered});
            if (!item->queued.empty() || !item->isComplete) break;
        }
        clock_ += count;
    }

    void play(const std::string& id, const Samples& samples) {
        const std::lock_guard<std::mutex> lock(gate_);
        auto item = find(id);
        if (item == nullptr) {
            item = std::make_shared<Item>();
            item->id = id;
            items_.push_back(item);
        }
        item->queued.insert(item->queued.end(), samples.begin(), samples.end());
    }

    void complete(const std::string& id) {
        const std::lock_guard<std::mutex> lock(gate_);
        if (const auto item = find(id)) item->isComplete = true;
    }

    /// Silence at once. Returns the samples heard of each item that had not ended.
    std::map<std::string, int> stop() {
        const std::lock_guard<std::mutex> lock(gate_);
        listen();
        std::map<std::string, int> heard;
        for (const auto& item : items_) heard[item->id] = item->heard;
        items_.clear();
        stretches_.clear();
        return heard;
    }

    /// Tells, in order, which items were heard further and which have ended since the last call.
    void poll(const std::function<void(const std::string&, int)>& onHeard, const std::function<void(const std::string&)>& onEnded) {
        struct Told {
            std::string id;
            int heard;
            bool isFurther;
            bool hasEnded;
        };
        std::vector<Told> told;
        {
            const std::lock_guard<std::mutex> lock(gate_);
            std::map<const Item*, int> before;
            for (const auto& item : items_) before[item.get()] = item->heard;
            listen();
            while (!items_.empty()) {
                const auto item = items_.front();
                const bool hasEnded = item->isComplete && item->queued.empty() && item->heard >= item->rendered;
                told.push_back({item->id, item->heard, item->heard > before[item.get()], hasEnded});
                if (!hasEnded) break;
                items_.pop_front();
            }
        }
        for (const auto& each : told) {
            if (each.isFurther) onHeard(each.id, each.heard);
            if (each.hasEnded) onEnded(each.id);
        }
    }

private:
    struct Item {
        std::string id;
        std::deque<std::int16_t> queued;
        int rendered = 0;
        int heard = 0;
        bool isComplete = false;
    };

    /// What was rendered, by the clock of rendered samples.
    struct Stretch {
        std::shared_ptr<Item> item;
        std::int64_t until;
        int rendered;
    };

    std::shared_ptr<Item> find(const std::string& id) const {
        for (const auto& item : items_)
            if (item->id == id) return item;
        return nullptr;
    }

    void listen() {
        const std::int64_t heard = clock_ - latency_;
        while (!stretches_.empty() && stretches_.front().until <= heard) {
            stretches_.front().item->heard = stretches_.front().rendered;
            stretches_.pop_front();
        }
        if (stretches_.empty()) return;
        const auto& next = stretches_.front();
        next.item->heard = static_cast<int>(std::max<std::int64_t>(next.item->heard, next.rendered - (next.until - heard)));
    }

    mutable std::mutex gate_;
    std::deque<std::shared_ptr<Item>> items_;
    std::deque<Stretch> stretches_;
    std::int64_t clock_ = 0;
    int latency_ = 0;
};

}  // namespace dramatis
