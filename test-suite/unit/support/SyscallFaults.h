// SPDX-License-Identifier: GPL-2.0-or-later
/* System calls that fail: a child process runs the code, and the kernel asks the test about each of these calls. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_SYSCALLFAULTS_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_SYSCALLFAULTS_H

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ClusterFs {
namespace Testing {

/// Which calls fail, and how. With all of its conditions met, a call counts;
/// from the nth on, that many of them fail.
struct SyscallFault {
    /// \param numbers as of SCMP_SYS(); the C library may use any of them
    /// \param error errno value; 0 lets the call go on
    SyscallFault(std::vector<int> numbers, const int error): calls(std::move(numbers)), errnum(error) {}

    SyscallFault &on(const std::string &wanted) { return path = wanted, *this; } ///< the file of its descriptor, or to open
    SyscallFault &with(const unsigned index, const uint64_t value) { return arguments.push_back({index, value}), *this; }
    SyscallFault &nth(const unsigned first) { return skip = first - 1, *this; }
    SyscallFault &times(const unsigned count) { return left = count, *this; }
    SyscallFault &always() { return left = forEver, *this; }
    /// what the test's process does first, while the call waits
    SyscallFault &after(std::function<void()> action) { return before = std::move(action), *this; }

    static constexpr unsigned forEver = ~0U;

    std::vector<int> calls;
    int errnum;
    std::string path;
    std::vector<std::pair<unsigned, uint64_t>> arguments;
    unsigned skip = 0;
    unsigned left = 1;
    std::function<void()> before;
};

/// fstat() by whatever name the C library calls it
inline SyscallFault
fstatFault(const int errnum)
{
    return SyscallFault({SCMP_SYS(fstat), SCMP_SYS(newfstatat)}, errnum);
}

/// a child process under a filter, and the answers that it gets
class FaultyChild
{
public:
    explicit FaultyChild(std::vector<SyscallFault> faults): faults_(std::move(faults)) {}

    /// \returns why it cannot be done here; empty when it was done
    std::string run(const std::function<void()> &body) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::runtime_error(std::string("socketpair: ") + strerror(errno));
        fflush(nullptr); // or the child prints it, too
        pid_ = fork();
        if (pid_ == 0) {
            close(ends[0]);
            beChild(ends[1], body);
        }
        close(ends[1]);
        socket_ = ends[0];
        const auto whyNot = pid_ < 0 ? std::string("cannot fork") : receiveListener();
        if (whyNot.empty())
            serve();
        end(whyNot.empty());
        return whyNot;
    }

private:
    static constexpr int patience = 120000; ///< milliseconds; only a mistake takes so long

    /* in the child */

    [[noreturn]] void beChild(const int socket, const std::function<void()> &body) {
        const int listener = install();
        sendListener(socket, listener);
        if (listener < 0)
            _exit(0);
        close(listener);
        try {
            body();
        } catch (const std::exception &e) {
            ADD_FAILURE() << e.what();
        }
        (void)send(socket, "d", 1, 0); // no faults while the process ends
        exit(testing::Test::HasFailure() ? 1 : 0);
    }

    /// \returns a descriptor, or a negative errno value
    int install() const {
        if (seccomp_api_get() < 6)
            return -ENOSYS;
        const auto filter = seccomp_init(SCMP_ACT_ALLOW);
        for (const auto &fault: faults_) {
            for (const int number: fault.calls) {
                if (number >= 0) // else this machine has no such call
                    (void)seccomp_rule_add(filter, SCMP_ACT_NOTIFY, number, 0);
            }
        }
        const int result = seccomp_load(filter);
        const int listener = result == 0 ? seccomp_notify_fd(filter) : result;
        seccomp_release(filter);
        return listener;
    }

    /// a message whose bytes are a number, beside which a descriptor may travel
    struct Message {
        Message() {
            memset(&header, 0, sizeof(header));
            header.msg_iov = &piece;
            header.msg_iovlen = 1;
            header.msg_control = control;
            header.msg_controllen = sizeof(control);
        }
        int number = 0;
        struct iovec piece = {&number, sizeof(number)};
        alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        struct msghdr header;
    };

    static void sendListener(const int socket, const int listener) {
        Message message;
        message.number = listener;
        if (listener < 0) {
            message.header.msg_controllen = 0;
        } else {
            auto *const beside = CMSG_FIRSTHDR(&message.header);
            beside->cmsg_level = SOL_SOCKET;
            beside->cmsg_type = SCM_RIGHTS;
            beside->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(beside), &listener, sizeof(int));
        }
        if (sendmsg(socket, &message.header, 0) < 0)
            _exit(2);
    }

    /* in the test's process */

    std::string receiveListener() {
        Message message;
        if (recvmsg(socket_, &message.header, MSG_CMSG_CLOEXEC) != sizeof(message.number))
            return "the child process did not start";
        if (message.number < 0)
            return std::string("no filters of system calls here: ") + strerror(-message.number);
        memcpy(&listener_, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof(int));
        return std::string();
    }

    /// answers until the child is gone
    void serve() {
        struct seccomp_notif *request = nullptr;
        struct seccomp_notif_resp *response = nullptr;
        ASSERT_EQ(seccomp_notify_alloc(&request, &response), 0);
        struct pollfd waiting[] = {{listener_, POLLIN, 0}, {socket_, POLLIN, 0}};
        for (bool running = true; running;) {
            if (::poll(waiting, 2, patience) <= 0) {
                ADD_FAILURE() << "the child process hangs";
                (void)kill(pid_, SIGKILL);
                break;
            }
            char done;
            const auto got = recv(socket_, &done, 1, MSG_DONTWAIT);
            running = got != 0;
            if (got > 0)
                armed_ = false;
            if (waiting[0].revents & POLLIN)
                answerOne(request, response);
        }
        seccomp_notify_free(request, response);
    }

    void answerOne(struct seccomp_notif *request, struct seccomp_notif_resp *response) {
        memset(request, 0, sizeof(*request)); // the kernel insists
        if (seccomp_notify_receive(listener_, request) != 0)
            return; // killed meanwhile
        const int errnum = armed_ ? choose(*request) : 0;
        memset(response, 0, sizeof(*response));
        response->id = request->id;
        response->error = -errnum;
        response->flags = errnum ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void)seccomp_notify_respond(listener_, response);
    }

    /// \returns an errno value, or 0 for going on
    int choose(const struct seccomp_notif &request) {
        for (auto &fault: faults_) {
            if (!fault.left || !suits(fault, request))
                continue;
            if (fault.skip > 0) {
                --fault.skip;
                continue;
            }
            if (fault.left != SyscallFault::forEver)
                --fault.left;
            if (fault.before)
                fault.before();
            return fault.errnum;
        }
        return 0;
    }

    bool suits(const SyscallFault &fault, const struct seccomp_notif &request) const {
        const auto &data = request.data;
        if (std::find(fault.calls.begin(), fault.calls.end(), data.nr) == fault.calls.end())
            return false;
        for (const auto &[index, value]: fault.arguments) {
            if (data.args[index] != value)
                return false;
        }
        return fault.path.empty() || fault.path == (data.nr == SCMP_SYS(openat) ? nameAt(data.args[1]) : fileOf(data.args[0]));
    }

    std::string fileOf(const uint64_t descriptor) const {
        const auto link = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(static_cast<int>(descriptor));
        std::string target(4096, '\0');
        const auto length = readlink(link.c_str(), &target[0], target.size());
        target.resize(length > 0 ? static_cast<size_t>(length) : 0);
        return target;
    }

    std::string nameAt(const uint64_t address) const {
        const int memory = open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
        char name[4096] = {};
        const auto length = memory < 0 ? -1 : pread(memory, name, sizeof(name) - 1, static_cast<off_t>(address));
        if (memory >= 0)
            close(memory);
        return length > 0 ? name : std::string();
    }

    void end(const bool ran) {
        int status = 0;
        if (pid_ > 0) {
            (void)waitpid(pid_, &status, 0);
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child process failed: " << status;
        }
        if (listener_ >= 0)
            close(listener_);
        close(socket_);
        for (size_t i = 0; ran && i < faults_.size(); ++i)
            EXPECT_TRUE(!faults_[i].left || faults_[i].left == SyscallFault::forEver) << "fault " << i << " was never needed";
    }

    std::vector<SyscallFault> faults_;
    pid_t pid_ = -1;
    int socket_ = -1;
    int listener_ = -1;
    bool armed_ = true;
};

/// Runs the code in a child process in which these calls fail. What the code
/// expects counts as the test's own; what it changes in memory is lost.
/// \returns why it cannot be done here, for GTEST_SKIP(); empty when it was done
inline std::string
withFaults(std::vector<SyscallFault> faults, const std::function<void()> &body)
{
    return FaultyChild(std::move(faults)).run(body);
}

} // namespace Testing
} // namespace ClusterFs

#endif
