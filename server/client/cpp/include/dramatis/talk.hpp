// A conversation with a character of a Dramatis server. Header-only, C++17, no socket: give it your engine's.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "link.hpp"
#include "lip_sync.hpp"
#include "moments.hpp"
#include "player.hpp"
#include "speaker.hpp"

namespace dramatis {

/// What a game wants to know. Leave out what it does not.
struct TalkHandlers {
    /// Every event of the server, those unknown to this client too, except sound.
    std::function<void(const Json&)> received = [](const Json&) {};
    /// An `x_dramatis.cue` or `x_dramatis.action` whose word is heard now.
    std::function<void(const Json&)> due = [](const Json&) {};
    std::function<void(const ConnectionChange&)> connectionChanged = [](const ConnectionChange&) {};
    std::function<void(const Playback&)> playback = [](const Playback&) {};
};

/// Call everything from the game's thread, `update` once a frame; `speaker().render` may run on the audio thread. Frames that the
/// network loses are sent again; nothing is repeated.
class Talk {
public:
    Talk(TalkOptions options, Transport transport, TalkHandlers handlers)
        : handlers_(std::move(handlers)),
          moments_([this](const Json& told) { handlers_.due(told); }),
          player_({[this](const Json& told) { send(told); }, [this](const Json& told) { link_.mention(told); },
                   [this](const std::string& id) { return isActive(id); }, [this](const Playback& playback) { handlers_.playback(playback); }},
                  speaker_, lips_, moments_),
          link_(std::move(options), std::move(transport),
                {[this](const Json& told) { take(told); },
                 [this](const std::string& responseId, const std::string& itemId, double offset, const Samples& samples) {
                     player_.play(itemId, responseId, samples);
                     lips_.received(itemId, responseId, offset + static_cast<double>(samples.size()));
                 },
                 [this](const ConnectionChange& change) { changed(change); }}) {}

    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;

    Speaker& speaker() { return speaker_; }
    const LipSync& lipSync() const { return lips_; }
    bool isPlaying() const { return player_.isPlaying(); }
    bool isAnswering() const { return !active_.empty(); }

    void open() { link_.open(); }
    void close() { link_.close(); }

    /// Once a frame: milliseconds since the last call.
    void update(double elapsedMs) {
        player_.update();
        link_.tick(elapsedMs);
    }

    /// Sends an event of the protocol, now or after reconnecting. False if there is no session.
    bool send(const Json& told) { return link_.send(told); }

    /// Says something to the character in text, for one of several players if given; interrupts it.
    bool say(const std::string& text, std::optional<int> player = std::nullopt) {
        if (isPlaying() || isAnswering()) interrupt();
        const Json part = Json::object({{"type", "input_text"}, {"text", text}});
        Json item = Json::object({{"type", "message"}, {"role", "user"}, {"content", std::vector<Json>{part}}});
        if (player) item.set("x_dramatis", Json::object({{"player", *player}}));
        if (!send(Json::object({{"type", "conversation.item.create"}, {"item", item}}))) return false;
        isReplyOwed_ = true;
        askIfFree();
        return true;
    }

    /// Sends what the microphone of the user, or of one of several players, hears: 16-bit little-endian mono at 24 kHz.
    bool sendAudio(const Bytes& pcm16, int player = 0) { return link_.sendAudio(pcm16, player); }

    /// Stops the reply and tells the server how much of it was heard.
    void interrupt() {
        const std::string id = active_.empty() ? "" : active_.back();
        const bool isToCancel = !id.empty() && !player_.isCut(id);
        player_.cut(id, true);
        if (isToCancel) send(Json::object({{"type", "response.cancel"}, {"event_id", unasked}, {"response_id", id}}));
    }

    /// Throws std::runtime_error if the text is no JSON.
    void socketText(const std::string& text) { link_.receiveText(text); }
    void socketBytes(const Bytes& bytes) { link_.receiveBytes(bytes); }
    /// 1006 if the socket broke or did not open; 1008 if the server refused (401, 403).
    void socketClosed(int code) { link_.socketClosed(code); }

private:
    bool isActive(const std::string& id) const { return std::find(active_.begin(), active_.end(), id) != active_.end(); }

    void take(const Json& told) {
        player_.take(told);
        if (isOwn(told)) return;
        lips_.take(told);
        moments_.take(told);
        handlers_.received(told);
    }

    void changed(const ConnectionChange& change) {
        const bool isOver = change.kind == "refused" || change.kind == "replaced" || change.kind == "closed";
        if (change.isNew || isOver) {
            isReplyOwed_ = false;
            active_.clear();
            player_.abandon();
        }
        handlers_.connectionChanged(change);
    }

    /// Notes what is being answered. True for errors about what was sent unasked.
    bool isOwn(const Json& told) {
        const std::string& type = told["type"].text();
        if (type == "response.created") active_.push_back(told["response"]["id"].text());
        else if (type == "response.done") {
            active_.erase(std::remove(active_.begin(), active_.end(), told["response"]["id"].text()), active_.end());
            askIfFree();
        } else if (type == "error") {
            const Json& error = told["error"];
            if (error["event_id"].text() == unasked) return true;
            if (error["event_id"].text() != asked || error["code"].text() != "conversation_already_has_active_response") return false;
            // Another reply began meanwhile: ask again when it is done.
            isReplyOwed_ = true;
            return true;
        }
        return false;
    }

    void askIfFree() {
        if (!isReplyOwed_ || !active_.empty()) return;
        isReplyOwed_ = false;
        send(Json::object({{"type", "response.create"}, {"event_id", asked}}));
    }

    static constexpr const char* asked = "asked";

    TalkHandlers handlers_;
    Speaker speaker_;
    LipSync lips_;
    Moments moments_;
    Player player_;
    Link link_;
    std::vector<std::string> active_;
    bool isReplyOwed_ = false;
};

}  // namespace dramatis
