// Cues and actions at their sample.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"

namespace dramatis {

/// Tells cues and actions when their sample is heard. What the user does not hear never happens.
class Moments {
public:
    explicit Moments(std::function<void(const Json&)> onDue) : onDue_(std::move(onDue)) {}

    void take(const Json& told) {
        const std::string& type = told["type"].text();
        if (type == "x_dramatis.cue" || type == "x_dramatis.action") {
            // A reply without words has no item: its actions wait for nothing.
            if (!told["action_id"].isNull() && told["item_id"].isNull()) return onDue_(told);
            const Moment moment{told["samples"].number(), told};
            const auto isLater = [](double at, const Moment& each) { return at < each.at; };
            waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), moment.at, isLater), moment);
        } else if (type == "x_dramatis.resume") {
            // The clause is said again: what was not heard of it comes later.
            for (auto& each : waiting_)
                if (each.event["response_id"].text() == told["response_id"].text()) each.at += told["later_samples"].number();
        } else if (type == "x_dramatis.action_off") {
            forget("action_id", {told["action_id"].text()});
        }
    }

    void heard(const std::string& itemId, const std::string& responseId, double samples) {
        std::vector<Moment> due;
        // A cue that comes before its item was opened names the response alone.
        const auto isHere = [&](const Json& event) {
            return event["item_id"].isNull() ? event["response_id"].text() == responseId : event["item_id"].text() == itemId;
        };
        const auto isDue = [&](const Moment& each) { return each.at < samples && isHere(each.event); };
        std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(due), isDue);
        waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), isDue), waiting_.end());
        for (const auto& each : due) onDue_(each.event);
    }

    /// Forgets those whose field is one of these.
    void forget(const std::string& field, const std::vector<std::string>& ids) {
        const auto isOne = [&](const Moment& each) { return std::find(ids.begin(), ids.end(), each.event[field].text()) != ids.end(); };
        waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), isOne), waiting_.end());
    }

private:
    struct Moment {
        double at;
        Json event;
    };

    std::function<void(const Json&)> onDue_;
    std::vector<Moment> waiting_;
};

}  // namespace dramatis
