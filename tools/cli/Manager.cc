// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking Squid's cache manager. */

#include "Manager.h"
#include "Image.h"

#include "tools/base/Text.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

namespace ClusterFs::Cli {
namespace {

constexpr char scheme[] = "http://";
constexpr int timeoutSeconds = 60; ///< for each piece of an answer
constexpr size_t longestLine = 1 << 20; ///< bytes
constexpr size_t mostLines = 10000; ///< of a page that is kept
constexpr auto betweenLooks = std::chrono::milliseconds(200); ///< at a job

/// percent-encoded, digits, too: Squid takes a value of digits for numbers
std::string
encoded(const std::string &text)
{
    std::string result;
    for (const auto c: text) {
        char code[4];
        snprintf(code, sizeof(code), "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        const auto letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        result += letter ? std::string(1, c) : code;
    }
    return result;
}

/// base64 of RFC 4648
std::string
base64(const std::string &text)
{
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string result;
    for (size_t i = 0; i < text.size(); i += 3) {
        const auto n = std::min<size_t>(3, text.size() - i);
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (k < n ? static_cast<unsigned char>(text[i + k]) : 0);
        for (size_t k = 0; k < 4; ++k)
            result += k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return result;
}

/// connects to the first address that answers
/// \returns a descriptor, or -1 with the reason in error
int
connectTo(const std::string &host, const std::string &port, std::string &error)
{
    addrinfo hints = addrinfo();
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const auto failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (failure) {
        error = gai_strerror(failure);
        return -1;
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo *)> owner(found, &freeaddrinfo);
    for (const auto *a = found; a; a = a->ai_next) {
        const auto fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        const timeval limit = {timeoutSeconds, 0};
        if (fd >= 0) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
            if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
                return fd;
        }
        error = strerror(errno);
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/// what a status other than 200 means
std::string
refusal(const unsigned status)
{
    switch (status) {
    case 401:
        return "the password is wrong or missing: give that of cachemgr_passwd in squid.conf by --password-file or CLUSTERFS_PASSWORD";
    case 403:
        return "squid.conf does not let this machine ask the cache manager: see http_access";
    case 404:
        return "Squid has no such page: it has no cache_dir clusterfs, or cachemgr_passwd in squid.conf has no password for this page";
    default:
        return "Squid answered with status " + std::to_string(status);
    }
}

} // namespace

bool
Manager::IsAddress(const std::string &text)
{
    return text.compare(0, strlen(scheme), scheme) == 0;
}

Manager::Manager(const std::string &address, const std::string &passwordFile):
    address_(address),
    passwordFile_(passwordFile)
{
    auto rest = IsAddress(address) ? address.substr(strlen(scheme)) : "";
    if (!rest.empty() && rest.back() == '/')
        rest.pop_back();
    const auto bracket = rest.find(']');
    const auto colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
    host_ = rest.substr(0, colon);
    if (colon != std::string::npos)
        port_ = rest.substr(colon + 1);
    uint64_t number = 0;
    const auto good = Tools::parseWhole(port_, number) && number >= 1 && number <= 65535;
    if (host_.empty() || !good || rest.find_first_of("/?#@ \r\n") != std::string::npos)
        throw BadRequest("'" + address + "' is no address of a running Squid: give http://HOST:PORT");
    if (host_.front() == '[' && host_.back() == ']')
        host_ = host_.substr(1, host_.size() - 2);
}

void
declarePassword(CommandLine &line, std::string &file)
{
    line.text("password-file", file, "FILE", "the first line of this file is the password of cachemgr_passwd (default: CLUSTERFS_PASSWORD in the environment)");
}

/// \param result stays empty when there is none
/// \returns false, with the reason printed, when the file cannot be read
bool
Manager::password(std::string &result) const
{
    if (passwordFile_.empty()) {
        const auto *const given = getenv("CLUSTERFS_PASSWORD");
        result = given ? given : "";
        return true;
    }
    std::ifstream file(passwordFile_);
    if (file && std::getline(file, result))
        return true;
    complain(passwordFile_ + ": no password can be read from it");
    return false;
}

/// what comes of an answer, piece by piece
class Manager::Answer
{
public:
    Answer(const std::string &address, const Taker &taker): address_(address), taker_(taker) {}

    /// \returns false, with the reason printed, when no more is wanted
    bool add(const char *bytes, size_t size);

    /// no more comes. \returns false, with the reason printed, when this was no answer, or a refusal
    bool finish();

private:
    bool takeHead();
    bool fail(const std::string &why);

    const std::string &address_;
    const Taker &taker_;
    std::string rest_; ///< that is no whole line
    bool inBody_ = false;
    bool failed_ = false;
};

bool
Manager::Answer::fail(const std::string &why)
{
    if (!failed_)
        complain(address_ + ": " + why);
    failed_ = true;
    return false;
}

/// \returns false when it is not there yet, or says that nothing useful follows
bool
Manager::Answer::takeHead()
{
    const auto head = rest_.find("\r\n\r\n");
    if (head == std::string::npos)
        return false;
    unsigned status = 0;
    if (sscanf(rest_.c_str(), "HTTP/1.%*u %u", &status) != 1)
        return fail("this is no answer of a Squid");
    if (status != 200)
        return fail(refusal(status));
    rest_.erase(0, head + 4);
    inBody_ = true;
    return true;
}

bool
Manager::Answer::add(const char * const bytes, const size_t size)
{
    rest_.append(bytes, size);
    size_t at = 0;
    if (inBody_ || takeHead()) {
        for (size_t end = 0; (end = rest_.find('\n', at)) != std::string::npos; at = end + 1) {
            const auto line = rest_.substr(at, end - at);
            const auto colon = line.find(": ");
            if (colon == std::string::npos)
                continue;
            const auto name = line.substr(0, colon);
            if (name == "error")
                return fail(line.substr(colon + 2));
            taker_(name, line.substr(colon + 2));
        }
    }
    rest_.erase(0, at);
    return !failed_ && (rest_.size() < longestLine || fail("this is no answer of a Squid"));
}

bool
Manager::Answer::finish()
{
    return !failed_ && (inBody_ || fail("this is no answer of a Squid"));
}

bool
Manager::ask(const std::string &page, const std::string &name, const std::string &value, const Taker &taker) const
{
    std::string secret;
    if (!password(secret))
        return false;
    auto request = "GET /squid-internal-mgr/" + page + (name.empty() ? "" : "?" + name + "=" + encoded(value)) + " HTTP/1.0\r\n"
                   "Host: " + address_.substr(strlen(scheme)) + "\r\n";
    if (!secret.empty())
        request += "Authorization: Basic " + base64("clusterfs:" + secret) + "\r\n";
    request += "\r\n";

    std::string error;
    const auto fd = connectTo(host_, port_, error);
    if (fd < 0) {
        complain(address_ + ": cannot connect: " + error);
        return false;
    }
    Answer answer(address_, taker);
    auto good = send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
    auto wanted = good;
    char buffer[16384];
    while (wanted) {
        const auto got = recv(fd, buffer, sizeof(buffer), 0);
        good = got >= 0;
        wanted = got > 0 && answer.add(buffer, static_cast<size_t>(got));
    }
    if (!good)
        complain(address_ + ": no answer: " + strerror(errno));
    close(fd);
    return good && answer.finish();
}

bool
Manager::ask(const std::string &page, const std::string &name, const std::string &value, Lines &lines) const
{
    lines.clear();
    return ask(page, name, value, [&lines](const std::string &key, const std::string &text) {
        if (lines.size() < mostLines)
            lines.emplace_back(key, text);
    });
}

bool
Manager::whole(const bool ended) const
{
    if (!ended)
        complain(address_ + ": the answer breaks off: was Squid stopped?");
    return ended;
}

bool
Manager::whole(const Lines &lines) const
{
    return whole(!lines.empty() && lines.back().first == "end");
}

int
Manager::run(const std::string &page, const std::string &name, const std::string &value, const bool json) const
{
    Lines lines;
    if (!ask(page, name, value, lines))
        return exitCannot;
    const auto begun = valueOf(lines, "begun");
    while (valueOf(lines, "state") == "running") {
        std::this_thread::sleep_for(betweenLooks);
        if (!ask("clusterfs_job", "", "", lines))
            return exitProblems;
        if (valueOf(lines, "begun") != begun) {
            complain(address_ + ": Squid was restarted, or somebody started another job: this one may be unfinished");
            return exitProblems;
        }
    }
    Output out(json);
    putLines(out, lines);
    out.finish();
    const auto unread = valueOf(lines, "clusters unread");
    const auto whole = valueOf(lines, "state") == "done" && valueOf(lines, "not searched").empty() && (unread.empty() || unread == "0");
    return whole ? exitFine : exitProblems;
}

void
putLines(Output &out, const Manager::Lines &lines)
{
    static const std::vector<std::string> numbers = {
        "size", "timestamp", "expires", "last modified", "objects removed", "objects left", "clusters unread", "longest turn", "begun", "seconds"
    };
    bool listed = false;
    for (const auto &[name, value]: lines) {
        auto key = name;
        std::replace(key.begin(), key.end(), ' ', '_');
        if (name == "cache_dir") { // an item for each, with what follows
            if (listed)
                out.close();
            else
                out.openList("found");
            listed = true;
            out.openItem();
        }
        if (std::count(numbers.begin(), numbers.end(), name))
            out.putTime(key.c_str(), strtoll(value.c_str(), nullptr, 10));
        else
            out.put(key.c_str(), value);
    }
}

std::string
valueOf(const Manager::Lines &lines, const std::string &name)
{
    for (const auto &line: lines) {
        if (line.first == name)
            return line.second;
    }
    return std::string();
}

} // namespace ClusterFs::Cli
