import { randomUUID } from 'node:crypto'
import {
  CommandId,
  type EventOf,
  type Frame,
  fault,
  type FrameOf,
  type PendingApproval,
  type Result,
  refuse,
  type SessionHandle,
  statusOf,
} from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { type Ended, ended, exitCodes, refused } from './ended.ts'
import { followFrames } from './follow-frames.ts'
import { toJsonText } from './json-text.ts'
import type { Place } from './place.ts'
import { createRunScreen, previewText } from './run-screen.ts'
import { thisClient } from './this-client.ts'
import { createTurnAccount, type TurnAccount } from './turn-account.ts'

export type RunTurnOptions = {
  /** What a call that asks is told; `nobody`: no, because nobody was there to ask. */
  readonly approvals: 'approve' | 'reject' | 'nobody'
  readonly isJson: boolean
  readonly place: Place
  readonly interruption: AbortSignal
}

/** Sends a prompt and stays until its turn ends, however it ends. */
export async function runTurn(handle: SessionHandle, prompt: string, options: RunTurnOptions): Promise<Ended> {
  const { place, interruption, isJson } = options
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) return refused(snapshot.fault)
  const { meta, seq, view } = snapshot.value
  if (view.pendingApprovals.length > 0 && options.approvals === 'nobody') return refused(stillAsked(snapshot.value))

  const watcher = createWatcher(options)
  await watcher.note(`session ${meta.handle}, ${escapeLine(meta.model)}`)
  const commandId = CommandId.parse(randomUUID())
  const account = createTurnAccount(commandId)
  const leave = new AbortController()
  const abort = () => void handle.submit({ type: 'abort' }, { as: thisClient })
  interruption.addEventListener('abort', abort)
  try {
    const frames = followFrames(handle, isNew(seq) ? 0 : seq, leave.signal)
    const joined = frames.next() // joins before the prompt is sent, so that no word of the answer is missed
    const sent = await handle.submit({ type: 'sendPrompt', content: prompt }, { commandId, as: thisClient })
    if (!sent.ok) return refused(sent.fault)
    if (interruption.aborted) abort() // it came before there was a turn to abort
    for (const pending of view.pendingApprovals) await answer(handle, pending, options, watcher)

    for (let next = await joined; !next.done && account.end === null; ) {
      const frame = next.value
      await watcher.show(frame)
      if (frame.type === 'record') {
        const { seq: id, event } = frame.record
        account.add(frame.record)
        if (event.type === 'approval.asked') await answer(handle, { ...event, id }, options, watcher)
      }
      if (account.end === null) next = await frames.next()
    }
    return await tellResult(handle, account, watcher, options)
  } catch (error) {
    abort() // nobody is left who could see what it does, as when the reader of a pipe has gone
    throw error
  } finally {
    interruption.removeEventListener('abort', abort)
    leave.abort()
    if (isJson) await watcher.settle()
  }
}
