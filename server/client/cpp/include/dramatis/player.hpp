// Replies as they are heard.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "lip_sync.hpp"
#include "moments.hpp"
#include "speaker.hpp"

namespace dramatis {

/// What happens to the sound of an item: `play` (queued), `stop` (silence at once), `cut` (off after so many samples), `ended`.
struct Playback {
    std::string kind;
    std::string itemId = {};
    int samples = 0;
    const Samples* sound = nullptr;
};

/// `event_id` of what the client sends unasked; errors about it mean nothing.
inline const std::string unasked = "unasked";

/// Plays replies, tells the server how much of them was heard, and cuts them off when the user speaks.
class Player {
public:
    struct Owner {
        std::function<void(const Json&)> send;
        std::function<void(const Json&)> mention;
        std::function<bool(const std::string&)> isActive;
        std::function<void(const Playback&)> note;
    };

    Player(Owner owner, Speaker& speaker, LipSync& lips, Moments& moments) : owner_(std::move(owner)), speaker_(speaker), lips_(lips), moments_(moments) {}

    bool isPlaying() const {
        return speaker_.isPlaying() || std::any_of(items_.begin(), items_.end(), [](const Item& item) { return item.held >= 0; });
    }

    bool isCut(const std::string& responseId) const { return cut_.count(responseId) > 0; }

    /// Reports what was heard since the last call.
    void update() {
        speaker_.poll([this](const std::string& id, int played) { progress(id, played); }, [this](const std::string& id) { ended(id); });
    }

    void take(const Json& told) {
        const std::string& type = told["type"].text();
        const std::string& responseId = told["response_id"].text();
        if (type == "session.created" || type == "session.updated") obey(told["session"]);
        else if (type == "input_audio_buffer.speech_started" && isPlaying() && canInterrupt_) cut("", true);
        else if (type == "x_dramatis.hold") hold();
        else if (type == "response.output_item.added" && told["item"]["type"].text() == "message") {
            if (!isCut(responseId)) open(told["item"]["id"].text(), responseId);
            else if (begun_.count(responseId) == 0) truncate(told["item"]["id"].text(), 0);
        } else if (type == "response.output_audio.done") speaker_.complete(told["item_id"].text());
        else if (type == "response.done") done(told["response"]);
    }

    void play(const std::string& itemId, const std::string& responseId, const Samples& samples) {
        if (isCut(responseId)) return;
        begun_.insert(responseId);
        open(itemId, responseId).received += static_cast<int>(samples.size());
        speaker_.play(itemId, samples);
        owner_.note({"play", itemId, static_cast<int>(samples.size()), &samples});
    }

    /// Stops at once. `active`: the response in progress, of which nothing may have come; empty if there is none.
    void cut(const std::string& active, bool tells) {
        const std::vector<Item> stopped = std::exchange(items_, {});
        std::vector<std::string> ids;
        for (const auto& item : stopped)
            if (std::find(ids.begin(), ids.end(), item.responseId) == ids.end()) ids.push_back(item.responseId);
        if (!active.empty() && std::find(ids.begin(), ids.end(), active) == ids.end()) ids.push_back(active);
        if (ids.empty()) return;
        for (const auto& id : ids)
            if (owner_.isActive(id)) cut_.insert(id);
        lips_.stopped(ids);
        moments_.forget("response_id", ids);
        const bool isUnheard = !active.empty() && begun_.count(active) == 0;
        std::map<std::string, int> played;
        if (speaker_.isPlaying()) played = silence();
        for (const auto& item : stopped) {
            const int heard = item.heard(played[item.id]);
            close(item, heard);
            if (!tells || (item.received == 0 && item.responseId != active)) continue;
            if (item.received > 0) report(item.responseId, heard, true, false);
            truncate(item.id, heard);
        }
        if (tells && isUnheard) report(active, 0, true, false);
    }

    /// The session is gone.
    void abandon() {
        cut("", false);
        cut_.clear();
        begun_.clear();
    }

private:
    static constexpr int reportSamples = 3'600;

    struct Item {
        std::string id;
        std::string responseId;
        int received = 0;
        /// Received before the last hold; will not be played.
        int base = 0;
        /// Heard when the last hold came; -1 if there was none.
        int held = -1;

        int heard(int played) const { return std::min(played > 0 ? base + played : held >= 0 ? held : base, received); }
    };

    std::map<std::string, int> silence() {
        owner_.note({"stop"});
        return speaker_.stop();
    }

    void close(const Item& item, int heard) {
        lips_.ended(item.id);
        moments_.forget("item_id", {item.id});
        owner_.note({"cut", item.id, heard});
    }

    /// The user makes a sound: sound that was not heard is dropped; the server sends it again.
    void hold() {
        const auto played = silence();
        std::vector<Item> over;
        for (auto& item : items_) {
            if (item.received == item.base) continue;
            const auto found = played.find(item.id);
            const int heard = item.heard(found == played.end() ? 0 : found->second);
            item.base = item.received;
            item.held = heard;
            report(item.responseId, heard, true, true);
            if (!owner_.isActive(item.responseId)) over.push_back(item);
        }
        for (const auto& item : over) endHeld(item);
    }

    void endHeld(const Item item) {
        forget(item.id);
        close(item, item.heard(0));
        truncate(item.id, item.heard(0));
    }

    void progress(const std::string& id, int played) {
        const Item* item = find(id);
        if (item == nullptr) return;
        const int heard = played + item->base;
        const std::string responseId = item->responseId;
        tell(responseId, heard, false);
        lips_.heard(id, responseId, heard);
        moments_.heard(id, responseId, heard);
    }

    void ended(const std::string id) {
        const Item* found = find(id);
        if (found == nullptr) return;
        const Item item = *found;
        forget(id);
        tell(item.responseId, item.received, true);
        lips_.ended(id);
        moments_.heard(id, item.responseId, std::numeric_limits<double>::infinity());
        owner_.note({"ended", id, item.received});
    }

    void done(const Json& response) {
        const std::string& id = response["id"].text();
        const bool wasCut = cut_.erase(id) > 0;
        if (response["status"].text() == "cancelled" && !wasCut) {
            cut(id, true);
            cut_.erase(id);
            begun_.erase(id);
            return;
        }
        begun_.erase(id);
        for (const auto& item : std::vector<Item>(items_)) {
            if (item.responseId != id) continue;
            speaker_.complete(item.id);
            if (item.received == 0) ended(item.id);
            else if (item.held >= 0 && item.received == item.base) endHeld(item);
        }
    }

    void obey(const Json& session) {
        canInterrupt_ = !session["audio"]["input"]["turn_detection"]["interrupt_response"].isFalse();
        tellsHeard_ = session["x_dramatis"]["extensions"].has("heard");
    }

    Item* find(const std::string& id) {
        const auto found = std::find_if(items_.begin(), items_.end(), [&id](const Item& item) { return item.id == id; });
        return found == items_.end() ? nullptr : &*found;
    }

    Item& open(const std::string& id, const std::string& responseId) {
        if (Item* known = find(id)) return *known;
        items_.push_back({id, responseId});
        return items_.back();
    }

    void forget(const std::string& id) {
        items_.erase(std::remove_if(items_.begin(), items_.end(), [&id](const Item& item) { return item.id == id; }), items_.end());
    }

    /// Reports soon after the start, every 150 ms, and at the end.
    void tell(const std::string& responseId, int samples, bool isLast) {
        if (responseId != reported_) reportedSamples_ = -reportSamples;
        reported_ = responseId;
        if (samples <= 0 || (samples - reportedSamples_ < reportSamples && !isLast)) return;
        reportedSamples_ = samples;
        report(responseId, samples, isLast, false);
    }

    void report(const std::string& responseId, int samples, bool isFinal, bool isHeld) {
        if (!tellsHeard_) return;
        Json told = Json::object({{"type", "x_dramatis.heard"}, {"event_id", unasked}, {"response_id", responseId}, {"samples", samples}});
        if (isHeld) told.set("held", true);
        if (isFinal) owner_.send(told);
        else owner_.mention(told);
    }

    void truncate(const std::string& itemId, int heard) {
        const std::int64_t endMs = static_cast<std::int64_t>(heard) * 1000 / sampleRate;
        owner_.send(Json::object({{"type", "conversation.item.truncate"}, {"event_id", unasked}, {"item_id", itemId}, {"content_index", 0}, {"audio_end_ms", endMs}}));
    }

    Owner owner_;
    Speaker& speaker_;
    LipSync& lips_;
    Moments& moments_;
    std::vector<Item> items_;
    /// Responses that were cut off here while the server still made them.
    std::set<std::string> cut_;
    /// Responses in progress of which sound has come.
    std::set<std::string> begun_;
    bool canInterrupt_ = true;
    bool tellsHeard_ = false;
    std::string reported_;
    int reportedSamples_ = 0;
};

}  // namespace dramatis
