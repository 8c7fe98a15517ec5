import {
  type Answer,
  Command,
  type CommandInput,
  commandFault,
  type Frame,
  ok,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  type Submission,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import { openBlob } from '../blobs/open-blob.ts'
import { loadSession } from '../log/load-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { notTaken, storageErrorOf } from '../storage-health.ts'
import { modelStatus } from '../stream/model-status.ts'
import { commandIdFor } from './command-id-for.ts'
import { followSession } from './follow-session.ts'
import { parseAttachment, parseSubmitter } from './parse-caller.ts'
import { createSessionReader } from './session-reader.ts'
import { sumTreeUsage } from './tree-usage.ts'

/** When to come back to a session that a disk keeps asleep. */
const comeBackMs = 500

/** The handle on a session of this process. Reading does not wake it; commanding and subscribing do. */
export function createLocalSession(registry: SessionRegistry, id: SessionId): SessionHandle {
  const { store, models, observer, clock } = registry.parts
  const { shownOf, snapshotOf, snapshot, page, branches } = createSessionReader({
    id,
    log: store,
    async folded() {
      const runner = registry.awake(id)
      return runner ? ok(runner.folded()) : loadSession(store, id)
    },
    tell: registry.attended,
    workspaceTrust: async ({ origin }) => (origin ? store.workspaceTrust(origin.workdir) : []),
    here: ({ settings }, trust) => ({
      clients: registry.awake(id)?.hub.seats.all ?? [],
      storageError: registry.awake(id)?.storageError() ?? null,
      ...modelStatus(models.find(settings.model)),
      workspaceTrust: [...trust],
    }),
  })

  async function submitAwake(submission: Submission): Promise<Result<Answer>> {
    const runner = await registry.wake(id)
    if (!runner.ok) return refuse(notTaken(runner.fault))
    const answer = await runner.value.submit(submission)
    // It was unloaded while the command was on its way, which nobody may notice: wake it and ask again.
    const isUnloaded = !answer.ok && answer.fault.code === 'session_stopped' && registry.awake(id) !== runner.value
    if (!isUnloaded) return answer
    const again = await registry.wake(id)
    return again.ok ? again.value.submit(submission) : again
  }

  return {
    id,
    snapshot,
    page,
    branches,
    blob: (hash) => openBlob(registry.parts, id, hash),
    models: async () => ok(await models.list()),
    treeUsage: () => sumTreeUsage(store, id),

    async submit(input: CommandInput, options: SubmitOptions = {}): Promise<Result<Answer>> {
      const command = Command.safeParse(input)
      if (!command.success) return refuse(commandFault(input, command.error))
      const submitter = parseSubmitter(options)
      if (!submitter.ok) return submitter
      const { commandId = commandIdFor(command.data), by } = submitter.value
      const submission = { commandId, by, command: command.data }
      const startedMs = clock.now()
      const answer = await submitAwake(submission)
      observer?.answered?.(id, submission, answer, clock.now() - startedMs)
      return answer
    },

    async *subscribe({ after, signal, client, role }: SubscribeOptions = {}): AsyncGenerator<Frame> {
      let cursor = after
      const who = parseAttachment({ client, role })
      for (;;) {
        // Of one that sleeps, what will be shown is read while it is being claimed.
        const loading = cursor === undefined && registry.awake(id) === null ? loadSession(store, id) : undefined
        const ahead = loading?.then((loaded) => (loaded.ok ? shownOf(loaded.value) : null)).catch(() => null)
        const woken = await registry.wake(id, loading)
        if (!woken.ok) {
          const error = storageErrorOf(woken.fault)
          if (error) yield { type: 'storage', sessionId: id, error }
          yield { type: 'end', sessionId: id, reason: 'failed', retryMs: error ? comeBackMs : null }
          return
        }
        let isCut = false
        for await (const frame of followSession(
          woken.value,
          { after: cursor, signal, ...who },
          { log: store, snapshotOf: (joined) => snapshotOf(joined, ahead) },
        )) {
          if (frame.type === 'snapshot') cursor = frame.seq
          if (frame.type === 'record') cursor = frame.record.seq
          // Whoever read too slowly need not know: all it missed is in the log, and it has a cursor.
          isCut = frame.type === 'end' && frame.reason === 'slow'
          if (!isCut) yield frame
        }
        if (!isCut || signal?.aborted) return
      }
    },
  }
}
