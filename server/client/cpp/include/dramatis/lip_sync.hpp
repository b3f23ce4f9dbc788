// The mouth of the speaker, from `x_dramatis.visemes`.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json.hpp"
#include "viseme_tables.hpp"

namespace dramatis {

/// The shapes of one reply by sample at 24 kHz of its item.
class MouthTimeline {
public:
    void tell(const Json& told) {
        const double from = told["from"].number();
        dropFrom(from);
        for (const auto& row : told["visemes"].items()) {
            const auto& cells = row.items();
            entries_.push_back({cells.at(0).number(), cells.at(1).text(), cells.size() > 2 ? cells[2].number() : 1});
        }
        if (told["visemes"].items().empty()) entries_.push_back({from, "", 0});
        until_ = told["until"].number(std::numeric_limits<double>::infinity());
    }

    /// After a hold, the last `later` samples before `at` (received so far) are said again, and what follows comes later.
    void resume(double at, double later) {
        if (later <= 0) return;
        const int index = indexAt(at - later);
        Entry again = index < 0 ? Entry{at, "sil", 1} : entries_[static_cast<std::size_t>(index)];
        again.from = at;
        std::vector<Entry> moved;
        for (const auto& entry : entries_)
            if (entry.from > at - later) moved.push_back({entry.from + later, entry.viseme, entry.weight});
        dropFrom(at);
        entries_.push_back(again);
        entries_.insert(entries_.end(), moved.begin(), moved.end());
        until_ += later;
    }

    /// The weights of the shapes to draw at a sample, which fade into each other. Nothing: only the loudness is known.
    std::optional<Weights> weightsAt(double sample) const {
        if (sample >= until_) return Weights{{"sil", 1}};
        const int index = indexAt(sample);
        const Entry now = index < 0 ? Entry{0, "sil", 1} : entries_[static_cast<std::size_t>(index)];
        if (now.viseme.empty()) return {};
        const auto after = static_cast<std::size_t>(index + 1);
        const bool hasNext = after < entries_.size();
        const double end = std::min(hasNext ? entries_[after].from : std::numeric_limits<double>::infinity(), until_);
        const Entry following = end == until_ ? Entry{end, "sil", 1} : hasNext ? entries_[after] : Entry{end, "", 0};
        Weights weights;
        if (following.viseme.empty() || end == std::numeric_limits<double>::infinity()) {
            add(weights, now.viseme, now.weight);
            return weights;
        }
        // Lips that close stay closed until the sound ends.
        const bool isOpening = now.viseme == "PP" && following.viseme != "PP";
        const double share = isOpening ? 0 : std::max(0.0, 1 - (end - sample) / std::min(fadeSamples, end - now.from));
        add(weights, now.viseme, now.weight * (1 - share));
        add(weights, following.viseme, following.weight * share);
        return weights;
    }

private:
    /// Length of the crossfade, which ends as the next shape begins to sound: 60 ms.
    static constexpr double fadeSamples = 1'440;

    struct Entry {
        double from;
        /// Empty: only the loudness is known.
        std::string viseme;
        double weight;
    };

    static void add(Weights& weights, const std::string& viseme, double weight) {
        if (weight != 0) weights[viseme] += weight;
    }

    /// The last entry at or before a sample; -1 if there is none.
    int indexAt(double sample) const {
        const auto after = std::upper_bound(entries_.begin(), entries_.end(), sample, [](double at, const Entry& entry) { return at < entry.from; });
        return static_cast<int>(after - entries_.begin()) - 1;
    }

    void dropFrom(double sample) {
        entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [sample](const Entry& entry) { return entry.from >= sample; }), entries_.end());
    }

    std::vector<Entry> entries_;
    double until_ = 0;
};

/// The mouth at the sample that is heard now.
class LipSync {
public:
    /// The weights of the shapes to draw now. Closed (`sil`) if nothing is heard. Nothing: only the loudness is known.
    std::optional<Weights> weights() const { return weightsAt(heardSamples_); }

    /// The same at another sample at 24 kHz of the item that is heard.
    std::optional<Weights> weightsAt(double sample) const {
        if (heardItem_.empty()) return Weights{{"sil", 1}};
        const auto item = items_.find(heardItem_);
        if (item == items_.end() || !item->second.isTold) return {};
        return item->second.timeline.weightsAt(sample);
    }

    void take(const Json& told) {
        const std::string& type = told["type"].text();
        if (type == "x_dramatis.visemes") {
            Item& item = find(told["item_id"].text(), told["response_id"].text());
            item.isTold = true;
            item.timeline.tell(told);
        } else if (type == "x_dramatis.hold") {
            heldResponse_ = told["response_id"].text();
            heardItem_.clear();
        } else if (type == "x_dramatis.resume") {
            for (auto& [id, item] : items_)
                if (item.responseId == told["response_id"].text()) item.timeline.resume(item.received, told["later_samples"].number());
        } else if (type == "response.done" && told["response"]["status"].text() == "cancelled") {
            drop({told["response"]["id"].text()});
        }
    }

    void received(const std::string& itemId, const std::string& responseId, double samples) {
        find(itemId, responseId).received = samples;
        if (heldResponse_ == responseId) heldResponse_.clear();
    }

    void heard(const std::string& itemId, const std::string& responseId, double samples) {
        if (heldResponse_ == responseId) return;
        heardItem_ = itemId;
        heardSamples_ = samples;
    }

    void stopped(const std::vector<std::string>& responseIds) {
        heardItem_.clear();
        drop(responseIds);
    }

    void ended(const std::string& itemId) {
        if (heardItem_ == itemId) heardItem_.clear();
        items_.erase(itemId);
    }

private:
    struct Item {
        MouthTimeline timeline;
        std::string responseId;
        double received = 0;
        bool isTold = false;
    };

    Item& find(const std::string& itemId, const std::string& responseId) {
        Item& item = items_[itemId];
        item.responseId = responseId;
        return item;
    }

    void drop(const std::vector<std::string>& responseIds) {
        for (auto item = items_.begin(); item != items_.end();) {
            const bool isOne = std::find(responseIds.begin(), responseIds.end(), item->second.responseId) != responseIds.end();
            item = isOne ? items_.erase(item) : std::next(item);
        }
    }

    std::map<std::string, Item> items_;
    std::string heardItem_;
    double heardSamples_ = 0;
    std::string heldResponse_;
};

}  // namespace dramatis
