import { setTimeout as wait } from 'node:timers/promises'
import { createSession } from '@holdfast/client'
import { contentText, errorMessage, HoldfastError } from '@holdfast/protocol'
import type { ServerProcess } from '../e2e/server-process.ts'
import { type HealthReport, watchHealth } from './watch-health.ts'

/** A user of the server who sends small prompts and asks for its health while something else happens. */
export interface Bystander {
  stop(): Promise<BystanderReport>
}

/** `code` is that of a fault; null for any other error. */
type Failure = { readonly code: string | null; readonly message: string }

export type BystanderReport = {
  readonly prompts: number
  readonly health: HealthReport
  readonly failures: readonly Failure[]
  /** Returns the acknowledged prompts that the server no longer has. */
  missing(server: ServerProcess): Promise<readonly string[]>
}

/** `pauseMs` is the time between two prompts, and between two questions for the health. */
export async function startBystander(server: ServerProcess, workdir: string, pauseMs: number): Promise<Bystander> {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  const session = createSession(started.value)
  const stopping = new AbortController()
  const acknowledged: string[] = []
  const failures: Failure[] = []
  const note = (cause: unknown) =>
    failures.push({
      code: cause instanceof HoldfastError ? cause.code : null,
      message: errorMessage(cause),
    })

  async function sendPrompts(): Promise<void> {
    for (let count = 1; !stopping.signal.aborted; count++) {
      const text = `say prompt ${count}`
      await session.sendPrompt(text).then(() => acknowledged.push(text), note)
      await wait(pauseMs, null, { signal: stopping.signal }).catch(() => null)
    }
  }
  const watch = watchHealth(server, pauseMs)
  const working = sendPrompts()

  return {
    async stop() {
      stopping.abort()
      await working
      return {
        prompts: acknowledged.length,
        health: await watch.stop(),
        failures,
        async missing(later) {
          const found = await later.sessions.open(session.id)
          if (!found.ok) return acknowledged
          const stored = createSession(found.value)
          const said = new Set((await stored.messages()).flatMap((one) => (one.kind === 'user' ? [one.text] : [])))
          for (const { content } of await stored.getQueuedMessages()) said.add(contentText(content))
          return acknowledged.filter((text) => !said.has(text))
        },
      }
    },
  }
}
