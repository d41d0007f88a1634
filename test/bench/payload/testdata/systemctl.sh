#!/bin/sh
# As much of systemd as the bench's units need: systemctl start|stop|is-active UNIT…, and
# "systemctl isolate" and "systemctl live UNIT…", which start all units there are or some
# and wait until the host ends, and "systemctl reboot", after which isolate starts once more.
set -eu
units=/etc/systemd/system
state=/run/units
mkdir -p "$state" /var/log
field() { sed -n "s|^$2=||p" "$units/$1"; }

running() { [ -e "$state/$1.pid" ] && kill -0 "$(cat "$state/$1.pid")" 2>/dev/null; }

# Keeps a unit as its Restart= says, until it is stopped.
keep() {
    while [ ! -e "$state/$1.stop" ]; do
        rc=0
        # The lists of words are command lines.
        # shellcheck disable=SC2046
        $(field "$1" ExecStartPre) >>"/var/log/$1.log" 2>&1 || rc=$?
        if [ "$rc" -eq 0 ]; then
            # shellcheck disable=SC2046
            $(field "$1" ExecStart) >>"/var/log/$1.log" 2>&1 </dev/null &
            echo $! >"$state/$1.pid"
            wait $! || rc=$?
        fi
        echo "$1 ended: $rc" >>"/var/log/$1.log"
        case $(field "$1" Type) in oneshot) [ "$rc" -ne 0 ] || { touch "$state/$1.done" && break; } ;; esac
        [ "$(field "$1" Restart)" = always ] || [ "$rc" -ne 0 ] || break
        sleep 1
    done
    rm -f "$state/$1.pid" "$state/$1.keeper"
}

start() {
    [ -e "$units/$1" ] || return 0
    for wanted in $(field "$1" Wants) $(field "$1" Requires); do
        start "$wanted"
    done
    condition=$(field "$1" ConditionPathExists)
    case $condition in
    !*) [ ! -e "${condition#!}" ] || return 0 ;;
    ?*) [ -e "$condition" ] || return 0 ;;
    esac
    [ ! -e "$state/$1.keeper" ] && [ ! -e "$state/$1.done" ] || return 0
    rm -f "$state/$1.stop"
    touch "$state/$1.keeper"
    keep "$1" &
}

stop() {
    [ -e "$state/$1.keeper" ] || return 0
    touch "$state/$1.stop"
    while [ -e "$state/$1.keeper" ]; do
        [ ! -e "$state/$1.pid" ] || kill "$(cat "$state/$1.pid")" 2>/dev/null || true
        sleep 0.2
    done
}

verb=$1
shift
case $verb in
start) for unit; do start "$unit"; done ;;
stop) for unit; do stop "$unit"; done ;;
is-active)
    if [ -e "$state/$1.keeper" ] || [ -e "$state/$1.done" ]; then echo active; else
        echo inactive
        exit 3
    fi
    ;;
live)
    for unit; do start "$unit"; done
    sleep infinity
    ;;
isolate)
    while :; do
        for unit in "$units"/*.service; do start "$(basename "$unit")"; done
        until [ -e "$state/reboot" ]; do sleep 0.2; done
        for unit in "$units"/*.service; do stop "$(basename "$unit")"; done
        rm -rf "$state"
        mkdir "$state"
    done
    ;;
reboot) touch "$state/reboot" ;;
esac
