import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createSession } from '@holdfast/client'
import { HoldfastError } from '@holdfast/protocol'
import type { CaseRun, HostileCase } from '../case.ts'

const triesMax = 200
const pauseMs = 10

/** Sends prompts until one is acknowledged. Returns the faults of the others. */
async function sendUntilAccepted({ server, workdir }: CaseRun): Promise<readonly string[]> {
  const codes: string[] = []
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      const started = await server.sessions.start({ workdir, model: 'demo/agent' })
      if (!started.ok) throw new HoldfastError(started.fault)
      await createSession(started.value).sendPrompt('say hello')
      return codes
    } catch (cause) {
      if (!(cause instanceof HoldfastError)) throw cause
      codes.push(cause.code)
      await wait(pauseMs)
    }
  }
  throw new Error(`the server did not recover: ${codes.at(-1)}`)
}

/** A commit that is not acknowledged may still be in the recovered files: then its session is loaded again. */
const refusals = ['storage_error', 'log_moved']

/** Removes or truncates the write-ahead log of the store while the bystander sends prompts. */
const changedStore: HostileCase = {
  name: 'changed-store',
  from: 'program',
  refusals,
  async run(run) {
    const log = join(run.home, 'data', 'holdfast.db-wal')
    const changes = run.isQuick ? 4 : 40
    const violations: string[] = []
    let refused = 0
    for (let change = 0; change < changes; change++) {
      await sendUntilAccepted(run)
      if (change % 2 === 0) await rm(log)
      else await truncate(log, run.dice.below(2) * 4096)
      // An acknowledgement after the change means that every record before it is in the files again.
      const codes = await sendUntilAccepted(run)
      refused += codes.length
      for (const code of codes) if (!refusals.includes(code)) violations.push(`refused with ${code}`)
    }
    return { did: `changed the store ${changes} times; ${refused} prompts were refused`, violations }
  },
}

export const programCases: readonly HostileCase[] = [changedStore]
