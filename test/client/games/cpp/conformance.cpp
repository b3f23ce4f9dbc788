// Gives the inputs of the conformance file to the client and writes what it does.
#include <dramatis/talk.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

using namespace dramatis;

namespace {

std::string fileText(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Json call(const char* name) { return Json::object({{"call", name}}); }

struct Client {
    Json wire = Json::list();
    Json speaker = Json::list();
    Json game = Json::list();
    Talk talk{options(), transport(), handlers()};

    static TalkOptions options() {
        TalkOptions options;
        options.character = "alice";
        options.random = [] { return 0.0; };
        return options;
    }

    Transport transport() {
        return {[this](const std::string& query, const std::vector<std::string>& protocols) {
                    wire.add(call("dial").set("query", query).set("protocols", std::vector<Json>(protocols.begin(), protocols.end())));
                },
                [this](const std::string& text) { wire.add(call("text").set("event", Json::parse(text))); },
                [this](const Bytes& bytes) { wire.add(call("binary").set("kind", "input").set("frame", toBase64(bytes))); },
                [this](int code) { wire.add(call("close").set("code", code)); }};
    }

    TalkHandlers handlers() {
        return {[this](const Json& told) { game.add(call("event").set("event", told)); },
                [this](const Json& told) { game.add(call("due").set("event", told)); },
                [this](const ConnectionChange& change) {
                    Json made = call(change.kind.c_str());
                    if (change.kind == "open") made.set("isNew", change.isNew).set("isRestarted", change.isRestarted).set("lostMs", change.lostMs);
                    if (change.kind == "lost") made.set("attempt", change.attempt).set("retryInMs", change.retryInMs);
                    game.add(made);
                },
                [this](const Playback& playback) {
                    Json made = call(playback.kind.c_str());
                    if (!playback.itemId.empty()) made.set("item", playback.itemId);
                    if (playback.kind == "cut") made.set("heard", playback.samples);
                    if (playback.sound != nullptr)
                        made.set("samples", playback.samples).set("sum", std::accumulate(playback.sound->begin(), playback.sound->end(), 0));
                    speaker.add(made);
                }};
    }

    Json take(const Json& input) {
        wire = speaker = game = Json::list();
        const std::string& what = input["do"].text();
        const Json& player = input["player"];
        const int number = static_cast<int>(player.number());
        if (what == "open") talk.open();
        else if (what == "text") talk.socketText(input["frame"].write());
        else if (what == "binary") talk.socketBytes(fromBase64(input["frame"].text()));
        else if (what == "render") {
            Samples buffer(static_cast<std::size_t>(input["samples"].number()));
            talk.speaker().render(buffer.data(), static_cast<int>(buffer.size()));
            talk.update(0);
        } else if (what == "latency") talk.speaker().setLatencySamples(static_cast<int>(input["samples"].number()));
        else if (what == "say") talk.say(input["text"].text(), player.isNumber() ? std::optional<int>(number) : std::nullopt);
        else if (what == "audio") talk.sendAudio(fromBase64(input["pcm16"].text()), number);
        else if (what == "send") talk.send(input["event"]);
        else if (what == "interrupt") talk.interrupt();
        else if (what == "close") talk.close();
        else if (what == "lost") talk.socketClosed(static_cast<int>(input["code"].number()));
        else if (what == "wait") talk.update(input["ms"].number());
        else if (what == "mouth") {
            Json weights;
            if (const auto found = talk.lipSync().weightsAt(input["sample"].number())) {
                weights = Json::object();
                for (const auto& [viseme, weight] : *found) weights.set(viseme, weight);
            }
            game.add(call("mouth").set("weights", weights));
        } else throw std::runtime_error(what);
        return Json::object({{"wire", wire}, {"speaker", speaker}, {"game", game}});
    }
};

}  // namespace

int main(int, char** files) {
    Json results = Json::list();
    const Json cases = Json::parse(fileText(files[1]));
    for (const auto& each : cases.items()) {
        Client client;
        Json done = Json::list();
        for (const auto& step : each["steps"].items()) done.add(client.take(step["input"]));
        results.add(done);
    }
    // The tables are part of the headers, too: jaws open for `aa`.
    if (mixed(VrmTable(), {{"aa", 1}}).at("aa") != 1 || mixed(ArKitTable(), {{"aa", 1}}).at("jawOpen") <= 0 || Live2DTable().size() != std::size(visemes)) return 1;
    std::ofstream(files[2]) << results.write();
}
