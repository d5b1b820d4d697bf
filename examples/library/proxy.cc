// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A caching reverse proxy for HTTP/1.1: what stands in front of a web server and keeps its responses on a disk.
 *
 *     proxy STORE MB PORT HOST:PORT [OPTION=VALUE...]
 *
 * STORE is a disk or a file; a file that does not exist is made with so many MB (0: all of a disk). The proxy listens on
 * PORT and fetches from the server at HOST:PORT. The options are those of cache_dir, such as read-cache=256. It takes GET and
 * HEAD. It stores a response with status 200 for as long as Cache-Control or Expires say that it stays fresh, unless it is
 * private, or varies by more than Accept-Encoding. SIGINT and SIGTERM end it.
 *
 * It tells the store of each request, so that the store learns which objects a page consists of, and puts them side by side.
 * Each connection has a thread. A stale response is fetched anew, without asking the server whether it has changed.
 * To build: c++ -std=c++17 proxy.cc $(pkg-config --cflags --libs clusterfs) -lpthread -o proxy (needs Boost.Beast)
 */

#include <clusterfs/clusterfs.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <iostream>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

namespace {

constexpr size_t mostConnections = 4096; // of clients, each with a thread
constexpr size_t mostIdle = 128; // connections to the server that are kept for later
constexpr size_t pieceBytes = 64 << 10; // of a body, in memory at a time
constexpr time_t patience = 60; // seconds that a peer may be silent

/// what a stored response begins with
struct Front {
    int64_t made; ///< seconds since 1970
    int64_t stale; ///< when it is no longer fresh
    uint64_t header; ///< bytes of its status line and fields; the body is behind them
};

void
beImpatient(tcp::socket &socket)
{
    const timeval most = {patience, 0};
    setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
    setsockopt(socket.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
    socket.set_option(tcp::no_delay(true));
}

/// \returns the value of a directive of Cache-Control, empty where it has none; nothing where it is not there
std::optional<std::string>
directive(const http::fields &fields, const beast::string_view wanted)
{
    const auto given = fields[http::field::cache_control];
    std::string_view rest(given.data(), given.size());
    while (!rest.empty()) {
        auto one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
        const auto name = one.substr(0, one.find_first_of("= \t"));
        if (!beast::iequals(beast::string_view(name.data(), name.size()), wanted))
            continue;
        const auto equals = one.find('=');
        return equals == one.npos ? std::string() : std::string(one.substr(equals + 1));
    }
    return std::nullopt;
}

std::optional<int64_t>
number(std::string_view text)
{
    if (!text.empty() && text.front() == '"')
        text.remove_prefix(1);
    int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    return end.ec == std::errc() && value >= 0 ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<int64_t>
date(const beast::string_view given)
{
    tm parts = {};
    const std::string text(given.data(), given.size());
    return strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) ? std::optional<int64_t>(timegm(&parts)) : std::nullopt;
}

/// \returns the seconds for which a cache that many share may serve a response; 0 = it must not store it
int64_t
freshness(const http::response_header<> &response, const int64_t now)
{
    const auto vary = response[http::field::vary];
    if (response.result() != http::status::ok || (!vary.empty() && !beast::iequals(vary, "Accept-Encoding")))
        return 0;
    for (const auto no: {"no-store", "no-cache", "private"})
        if (directive(response, no))
            return 0;
    int64_t seconds = 0;
    if (const auto shared = directive(response, "s-maxage"))
        seconds = number(*shared).value_or(0);
    else if (const auto most = directive(response, "max-age"))
        seconds = number(*most).value_or(0);
    else if (const auto expires = date(response[http::field::expires]))
        seconds = *expires - date(response[http::field::date]).value_or(now);
    const auto age = response[http::field::age];
    return std::max<int64_t>(0, seconds - number({age.data(), age.size()}).value_or(0));
}

/// whether a field is a matter of one connection, or is said anew for each
bool
ofOneHop(const http::field field)
{
    switch (field) {
    case http::field::connection: case http::field::proxy_connection: case http::field::keep_alive: case http::field::te:
    case http::field::trailer: case http::field::transfer_encoding: case http::field::upgrade: case http::field::content_length:
    case http::field::age:
        return true;
    default:
        return false;
    }
}

std::string
headerText(const http::response_header<> &response)
{
    auto text = "HTTP/1.1 " + std::to_string(response.result_int()) + " " + std::string(response.reason()) + "\r\n";
    for (const auto &field: response)
        if (!ofOneHop(field.name()))
            text += std::string(field.name_string()) + ": " + std::string(field.value()) + "\r\n";
    return text;
}

/// Does something with the store. A store that is busy, damaged or offline costs time, no more: the server is asked then.
/// \returns whether it was done
template <class Work>
bool
attempt(const Work &work)
{
    try {
        work();
        return true;
    } catch (const clusterfs::Error &) {
        return false;
    }
}

/// a response on its way into the store; one that cannot be stored is forgotten
class Copy
{
public:
    void begin(clusterfs::Store &store, const std::string &name, const int64_t expected) {
        attempt([&] { writer_.emplace(store.create(name, expected)); });
    }

    void append(const std::string_view bytes) {
        if (writer_ && !attempt([&] { writer_->append(bytes); }))
            writer_.reset();
    }

    void commit() {
        if (writer_)
            attempt([&] { writer_->commit(); });
        writer_.reset();
    }

private:
    std::optional<clusterfs::Writer> writer_;
};

/// what all connections share
class Proxy
{
public:
    using Request = http::request<http::empty_body>;

    Proxy(clusterfs::Store &store, const std::string &host, const std::string &port): store_(store), host_(host), port_(port) {}

    /// answers what one client asks for, until it has enough
    void serve(tcp::socket &client) {
        beast::flat_buffer buffer;
        const auto address = client.remote_endpoint().address().to_string();
        const uint64_t number = std::hash<std::string>()(address) | 1; // 0 is nobody
        for (bool more = true; more;) {
            http::request_parser<http::empty_body> parser;
            http::read_header(client, buffer, parser);
            const auto &request = parser.get();
            more = request.keep_alive();
            if (request.method() != http::verb::get && request.method() != http::verb::head) {
                refuse(client, "405 Method Not Allowed");
                return;
            }
            if (!parser.is_done()) {
                refuse(client, "413 Payload Too Large");
                return;
            }
            const auto name = nameOf(request[http::field::host], request.target(), request);
            tell(number, name, request);
            const bool fresh = directive(request, "no-cache") || directive(request, "no-store");
            if (fresh || !answerFromStore(client, request, name))
                more = answerFromServer(client, request, name) && more;
        }
    }

private:
    /// the name of a response in the store: all that it depends on
    static std::string nameOf(const beast::string_view host, const beast::string_view target, const Request &request) {
        const auto encoding = request[http::field::accept_encoding];
        return std::string(host) + std::string(target) + "\n" + std::string(encoding);
    }

    /// lets the store learn which objects a page consists of
    void tell(const uint64_t client, const std::string &name, const Request &request) {
        const auto url = "http://" + std::string(request[http::field::host]) + std::string(request.target());
        const std::string referer(request[http::field::referer]), accept(request[http::field::accept]);
        const std::string destination(request["Sec-Fetch-Dest"]), mode(request["Sec-Fetch-Mode"]);
        clusterfs_http said = {};
        said.url = url.c_str();
        said.referer = referer.c_str();
        said.accept = accept.c_str();
        said.fetch_dest = destination.c_str();
        said.fetch_mode = mode.c_str();
        attempt([&] { store_.note(client, name, said); });
    }

    static void refuse(tcp::socket &client, const std::string &status) {
        const auto text = "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        asio::write(client, asio::buffer(text));
    }

    static const char *ending(const Request &request) { return request.keep_alive() ? "\r\n" : "Connection: close\r\n\r\n"; }

    /// \returns false when there is no fresh response in the store
    bool answerFromStore(tcp::socket &client, const Request &request, const std::string &name) {
        Front front = {};
        std::string header;
        std::string piece;
        size_t bytes = 0; // of the piece
        std::optional<clusterfs::Object> object;
        const auto first = [&] {
            object = store_.read(name);
            if (!object || object->read(0, &front, sizeof(front)) != sizeof(front))
                return;
            header.resize(front.header);
            object->read(sizeof(front), header.data(), header.size());
            piece.resize(std::min<size_t>(pieceBytes, object->size() - sizeof(front) - header.size()));
            bytes = object->read(sizeof(front) + header.size(), piece.data(), piece.size());
        };
        if (!attempt(first) || front.stale <= time(nullptr))
            return false;
        auto at = sizeof(front) + header.size();
        header += "Content-Length: " + std::to_string(object->size() - at) + "\r\nAge: " + std::to_string(time(nullptr) - front.made) +
                  "\r\nX-Cache: HIT\r\n" + ending(request);
        if (request.method() == http::verb::head) {
            asio::write(client, asio::buffer(header));
            return true;
        }
        asio::write(client, std::array<asio::const_buffer, 2>{asio::buffer(header), asio::buffer(piece.data(), bytes)});
        for (at += bytes; at < object->size(); at += bytes) { // an error ends the connection: the client sees the end too early
            bytes = object->read(at, piece.data(), piece.size());
            asio::write(client, asio::buffer(piece.data(), bytes));
        }
        return true;
    }

    /// passes a request on; the response goes to the client and, piece by piece, into the store
    /// \returns whether the client's connection can be used on
    bool answerFromServer(tcp::socket &client, const Request &request, const std::string &name) {
        auto onward = request;
        onward.version(11);
        for (const auto &field: request)
            if (ofOneHop(field.name()))
                onward.erase(field.name_string());
        // the answer is to be the whole object, whatever part or version of it the client has
        for (const auto condition: {http::field::range, http::field::if_range, http::field::if_none_match,
                                    http::field::if_modified_since, http::field::if_match, http::field::if_unmodified_since})
            onward.erase(condition);

        beast::flat_buffer buffer;
        http::response_parser<http::buffer_body> response;
        response.body_limit(std::numeric_limits<uint64_t>::max());
        response.skip(request.method() == http::verb::head);
        std::optional<tcp::socket> server;
        try {
            server.emplace(ask(onward, buffer, response));
        } catch (const boost::system::system_error &e) {
            std::cerr << host_ << ":" << port_ << ": " << e.what() << "\n";
            refuse(client, "502 Bad Gateway");
            return false;
        }

        const auto &said = response.get();
        const auto length = response.content_length();
        const auto header = headerText(said);
        const auto now = static_cast<int64_t>(time(nullptr));
        const auto seconds = request.method() == http::verb::get ? freshness(said, now) : 0;
        Copy copy;
        if (seconds > 0 && !request.count(http::field::authorization)) {
            const Front front = {now, now + seconds, header.size()};
            copy.begin(store_, name, length ? static_cast<int64_t>(sizeof(front) + header.size() + *length) : -1);
            copy.append({reinterpret_cast<const char *>(&front), sizeof(front)});
            copy.append(header);
        }

        const bool chunked = !length && !response.is_done() && request.version() >= 11;
        const bool bounded = length || chunked || response.is_done(); // else the end of the connection is the end of the body
        const auto head = header + "X-Cache: MISS\r\n" + (length ? "Content-Length: " + std::to_string(*length) + "\r\n" : "") +
                          (chunked ? "Transfer-Encoding: chunked\r\n" : "") + ending(request);
        if (response.is_done())
            copy.commit();
        asio::write(client, asio::buffer(head));
        std::vector<char> piece(pieceBytes);
        while (!response.is_done()) {
            response.get().body() = {piece.data(), piece.size(), true};
            boost::system::error_code error;
            http::read(*server, buffer, response, error);
            if (error && error != http::error::need_buffer)
                throw boost::system::system_error(error); // the client sees the end too early, and the store forgets what it has
            const auto size = piece.size() - response.get().body().size;
            copy.append({piece.data(), size});
            if (response.is_done()) // before the client has all of it, and may ask again
                copy.commit();
            if (!size)
                continue;
            if (chunked)
                asio::write(client, http::make_chunk(asio::buffer(piece.data(), size)));
            else
                asio::write(client, asio::buffer(piece.data(), size));
        }
        if (chunked)
            asio::write(client, http::make_chunk_last());
        if (response.keep_alive())
            putBack(std::move(*server));
        return bounded;
    }

    /// \returns a connection on which the header of the response has come
    template <class Response>
    tcp::socket ask(const Request &request, beast::flat_buffer &buffer, Response &response) {
        for (auto socket = takeIdle(); socket; socket = takeIdle()) {
            boost::system::error_code error; // the server may have closed it meanwhile
            if (http::write(*socket, request, error); !error)
                http::read_header(*socket, buffer, response, error);
            if (!error)
                return std::move(*socket);
            if (buffer.size() || response.is_header_done())
                throw boost::system::system_error(error);
        }
        tcp::socket socket(context_);
        asio::connect(socket, tcp::resolver(context_).resolve(host_, port_));
        beImpatient(socket);
        http::write(socket, request);
        http::read_header(socket, buffer, response);
        return socket;
    }

    std::optional<tcp::socket> takeIdle() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (idle_.empty())
            return std::nullopt;
        std::optional<tcp::socket> socket(std::move(idle_.back()));
        idle_.pop_back();
        return socket;
    }

    void putBack(tcp::socket socket) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (idle_.size() < mostIdle)
            idle_.push_back(std::move(socket));
    }

    clusterfs::Store &store_;
    const std::string host_, port_;
    asio::io_context context_;
    std::mutex mutex_; ///< of idle_
    std::vector<tcp::socket> idle_; ///< connections to the server
};

/// takes connections and gives each a thread, until a signal comes
class Listener
{
public:
    Listener(Proxy &proxy, const uint16_t port): proxy_(proxy), acceptor_(context_, {tcp::v4(), port}), signals_(context_, SIGINT, SIGTERM) {}

    void run() {
        signals_.async_wait([this](const boost::system::error_code &, int) { context_.stop(); });
        acceptNext();
        context_.run();
        std::unique_lock<std::mutex> lock(mutex_);
        for (const auto client: clients_)
            shutdown(client, SHUT_RDWR); // its thread sees the end
        ended_.wait(lock, [this] { return clients_.empty(); });
    }

private:
    void acceptNext() {
        acceptor_.async_accept([this](const boost::system::error_code &error, tcp::socket client) {
            if (!error)
                begin(std::move(client));
            else
                std::this_thread::sleep_for(std::chrono::milliseconds(100)); // no descriptor is free: connections end
            acceptNext();
        });
    }

    void begin(tcp::socket client) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (clients_.size() >= mostConnections)
            return; // which closes it
        beImpatient(client);
        clients_.insert(client.native_handle());
        std::thread([this, client = std::move(client)]() mutable {
            try {
                proxy_.serve(client);
            } catch (const std::exception &) {
                // the client has gone, the server broke off, or what came was no HTTP: this connection is at its end
            }
            const std::lock_guard<std::mutex> guard(mutex_);
            clients_.erase(client.native_handle());
            client.close(); // while nobody else can get the number
            ended_.notify_all();
        }).detach();
    }

    Proxy &proxy_;
    asio::io_context context_;
    tcp::acceptor acceptor_;
    asio::signal_set signals_;
    std::mutex mutex_; ///< of clients_
    std::condition_variable ended_;
    std::set<int> clients_; ///< their descriptors
};

int
run(const std::vector<std::string> &words)
{
    const auto megabytes = number(words[1]);
    const auto port = number(words[2]);
    const auto colon = words[3].rfind(':');
    if (!megabytes || !port || *port > 65535 || colon == words[3].npos) {
        std::cerr << "proxy: MB and PORT are numbers, and the server is HOST:PORT\n";
        return 2;
    }
    clusterfs::Options options;
    for (size_t i = 4; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        options.set(words[i].substr(0, equals), equals == std::string::npos ? "" : words[i].substr(equals + 1));
    }
    clusterfs::Store::format(words[0], static_cast<uint64_t>(*megabytes) << 20, options); // leaves alone what is a store already
    clusterfs::Store store({words[0]}, options);
    {
        Proxy proxy(store, words[3].substr(0, colon), words[3].substr(colon + 1));
        Listener(proxy, static_cast<uint16_t>(*port)).run();
    }
    store.close();
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    if (argc < 5) {
        std::cerr << "usage: proxy STORE MB PORT HOST:PORT [OPTION=VALUE...]\n";
        return 2;
    }
    try {
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception &e) {
        std::cerr << "proxy: " << e.what() << "\n";
        return 1;
    }
}
