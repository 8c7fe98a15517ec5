import { openSync, readdirSync, readFileSync, readSync } from 'node:fs'

/**
 * Returns a function that tells how long a thread of a process has waited for a CPU so far, in ms. Other processes cause
 * this wait, so it says nothing about the server. Always 0 where the system does not count it: only Linux does.
 */
export function openRunQueue(thread: string): () => number {
  let file: number
  try {
    file = openSync(`/proc/${thread}/schedstat`, 'r')
  } catch {
    return () => 0
  }
  const bytes = Buffer.alloc(100)
  let last = 0
  return () => {
    try {
      const [, waitedNs] = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ')
      last = Number(waitedNs) / 1e6
    } catch {
      // the thread has ended
    }
    return last
  }
}

/** The thread that calls, and the main thread of a process. */
export const ownThread = 'thread-self'
export const mainThread = (pid: number): string => `${pid}/task/${pid}`

/** Returns the threads of this process that V8 collects garbage with: the main thread waits until they are done. */
export function collectorThreads(): readonly string[] {
  try {
    const threads = readdirSync('/proc/self/task').map((id) => `self/task/${id}`)
    return threads.filter((thread) => readFileSync(`/proc/${thread}/comm`, 'utf8').startsWith('V8Worker'))
  } catch {
    return []
  }
}
