import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type Part = AsyncDisposable & {
  readonly process: ChildProcess
  /** Sends a message and returns the next answer. */
  ask<Answer>(question: unknown): Promise<Answer>
}

/** Starts another file of this folder as a process, by another program if `by` names one. It ends when it is disconnected. */
export function forkPart(file: string, by: readonly string[] = []): Part {
  const [execPath = process.execPath, ...execArgv] = [...by, process.execPath]
  const child = fork(join(import.meta.dirname, file), { serialization: 'advanced', execPath, execArgv })
  return {
    process: child,
    async ask(question) {
      const answer = nextMessage(child)
      child.send(question as object) // it can be sent: the parts of this folder send plain objects and words
      return (await answer) as never // the type that the caller names
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.kill('SIGCONT') // a stopped process cannot end
      child.disconnect()
      await exited
    },
  }
}

/** Returns the next message of a process; rejects if it ends first. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  try {
    const { signal } = over
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`a process ended with ${code}`))),
    ])
    return message
  } finally {
    over.abort()
  }
}
