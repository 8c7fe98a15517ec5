import {
  type Answer,
  Command,
  type CommandInput,
  commandFault,
  type Frame,
  limits,
  ok,
  type Recorded,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  type Submission,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { Log } from '../../ports/log.ts'
import { openBlob } from '../blobs/read-blob.ts'
import { loadSession } from '../log/load-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { notTaken, storageErrorOf } from '../storage-health.ts'
import type { AttachedClient } from '../stream/driver-control.ts'
import { modelStatus } from '../stream/hub.ts'
import { commandIdFor, parseAttachment, parseSubmitter } from './parse-submission.ts'
import { createSessionReader, type SessionReader } from './session-reader.ts'
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

type Past = Pick<SessionReader, 'snapshotOf'> & { readonly log: Pick<Log, 'read'> }

/** Joins first and reads afterwards, so that between the past and the present nothing is missed and nothing comes twice. */
async function* followSession(
  { id: sessionId, hub, folded }: SessionRunner,
  { after, signal, ...who }: Pick<SubscribeOptions, 'after' | 'signal'> & AttachedClient,
  { snapshotOf, log }: Past,
): AsyncGenerator<Frame> {
  const { subscription, draft, storage, model, leave } = hub.join(who)
  const joined = folded()
  const { seq } = joined.state
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    if (after !== undefined && after > seq) {
      yield { type: 'resync', sessionId, reason: `there is no record ${after} yet` }
    }
    if (after === undefined || after > seq) yield await snapshotOf(joined)
    else {
      for await (const record of replay(log, sessionId, after, seq)) yield { type: 'record', sessionId, record }
      yield storage // a snapshot says it, a cursor does not
      yield model
    }
    if (draft) yield draft
    yield* subscription
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }
}

/** The records between a client's cursor and the head it joined at, page by page. */
async function* replay(log: Past['log'], id: SessionId, after: number, upTo: number): AsyncGenerator<Recorded> {
  for (let cursor = after; cursor < upTo; ) {
    const page = await log.read(id, { after: cursor, upTo, limit: limits.pageRecordsMax })
    for (const record of page) {
      cursor = record.seq
      if (!('lost' in record)) yield record
    }
    if (page.length === 0) return
  }
}
