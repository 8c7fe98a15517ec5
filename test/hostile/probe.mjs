import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { collectorThreads, openRunQueue, ownThread } from './run-queue.ts'

/**
 * Loaded into the server with `--import`. Measures the longest stall of its event loop and its peak memory, and reports
 * both when asked. A stall is measured in three ways: on the wall clock, on the clock without waits for a CPU (so that
 * other processes do not count, and waits for disks and locks do), and on the CPU.
 */
const tickMs = 5

if (isMainThread && process.send) {
  const own = openRunQueue(ownThread)
  const collectors = collectorThreads().map(openRunQueue)
  const read = () => ({
    now: performance.now(),
    cpu: cpuMs(),
    own: own(),
    collectors: collectors.map((waitedMs) => waitedMs()),
  })
  const none = { stallMs: 0, blockedMs: 0, cpuMs: 0 }
  let longest = none
  let last = read()
  setInterval(() => {
    const next = read()
    const passedMs = next.now - last.now
    const collectorMs = Math.max(0, ...next.collectors.map((waited, each) => waited - last.collectors[each]))
    const waitedMs = next.own - last.own + collectorMs
    longest = {
      stallMs: Math.max(longest.stallMs, passedMs - tickMs),
      blockedMs: Math.max(longest.blockedMs, passedMs - tickMs - waitedMs),
      cpuMs: Math.max(longest.cpuMs, Math.min(next.cpu - last.cpu, passedMs)),
    }
    last = next
  }, tickMs).unref()
  process.on('message', () => {
    process.send?.({ ...longest, peakBytes: peakBytes() })
    longest = none
    forgetPeak()
  })
  process.channel?.unref()
}

function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Begins a new peak of memory: several cases may run in one process. */
function forgetPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // not Linux
  }
}

/** On Linux, `maxRSS` also counts the process that started this one. */
function peakBytes() {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) * 1024
  } catch {
    // not Linux
  }
  return process.resourceUsage().maxRSS * 1024
}
