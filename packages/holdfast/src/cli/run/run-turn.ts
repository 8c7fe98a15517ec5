import { randomUUID } from 'node:crypto'
import type { FollowOptions } from '@holdfast/client'
import {
  CommandId,
  Decision,
  type Fault,
  type FrameOf,
  fault,
  type PendingApproval,
  type SessionHandle,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { CliContext } from '../context/cli-context.ts'
import { previewText } from '../render/run-screen.ts'
import { createTurnAccount, type TurnEnded } from '../render/turn-summary.ts'
import { createWatcher, type Watcher } from '../sessions/watcher.ts'
import { type Ended, type ExitCode, ended, exitCodes, refused } from '../terminal/exit.ts'

export type RunTurnOptions = {
  /** What a call that asks is told; `nobody`: no, because nobody was there to ask. */
  readonly approvals: 'approve' | 'reject' | 'nobody'
  /** Whether the session was started for this turn: then its first records are shown too. */
  readonly isNew: boolean
  readonly isJson: boolean
  readonly place: Pick<CliContext, 'out' | 'err'>
  readonly interruption: AbortSignal
}

/**
 * Sends a prompt and stays until its turn ends, however it ends. It takes no seat: a program's own word needs none, and a
 * person who looks on meanwhile may drive.
 */
export async function runTurn(handle: SessionHandle, prompt: string, options: RunTurnOptions): Promise<Ended> {
  const { place, interruption, isJson, isNew } = options
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) return refused(snapshot.fault)
  const { meta, seq, view } = snapshot.value
  if (view.pendingApprovals.length > 0 && options.approvals === 'nobody') return refused(stillAsks(snapshot.value))

  const watcher = createWatcher(isJson, place)
  await watcher.note(`session ${meta.handle}, ${escapeLine(meta.model)}`)
  const commandId = CommandId.parse(randomUUID())
  const account = createTurnAccount(commandId)
  const leave = new AbortController()
  let isLost = false
  const onConnection: FollowOptions['onConnection'] = ({ state }) => {
    if (state === 'waiting' && !isLost) void watcher.note('The server cannot be reached; trying again.')
    if (state === 'waiting' || state === 'live') isLost = state === 'waiting'
  }
  const abort = async () => {
    if (isLost) return leave.abort()
    const aborted = await handle.submit({ type: 'abort' })
    if (!aborted.ok) leave.abort() // it cannot be told; there is nothing to wait for
  }
  const onInterruption = () => {
    void watcher.note('Aborting; Ctrl-C again ends it at once.')
    void abort()
  }
  try {
    const following: FollowOptions = { after: isNew ? 0 : seq, signal: leave.signal, onConnection }
    const frames = handle.subscribe(following)[Symbol.asyncIterator]()
    const first = frames.next() // joins before the prompt is sent, so that no word of the answer is missed
    if (interruption.aborted) return ended(exitCodes.interrupted)
    const sent = await handle.submit({ type: 'sendPrompt', content: prompt }, { commandId })
    if (!sent.ok) return refused(sent.fault)
    interruption.addEventListener('abort', onInterruption)
    if (interruption.aborted) onInterruption() // it came while the prompt was being sent
    for (const pending of view.pendingApprovals) await answer(handle, pending, options, watcher)

    for (let next = await first; !next.done; next = await frames.next()) {
      const frame = next.value
      await watcher.show(frame)
      if (frame.type !== 'record') continue
      const { seq: id, event } = frame.record
      account.add(frame.record)
      if (event.type === 'approval.asked') await answer(handle, { ...event, id }, options, watcher)
      if (account.end) return await tellEnd(handle, account.end, account, watcher, options)
    }
    if (interruption.aborted) return ended(exitCodes.interrupted)
    return refused(fault('session_stopped', 'The session ended before its turn did.', { session: handle.id }))
  } catch (error) {
    await abort() // nobody is left who sees what it does, as when the reader of a pipe has gone
    throw error
  } finally {
    interruption.removeEventListener('abort', onInterruption)
    leave.abort()
  }
}

type Asked = Pick<PendingApproval, 'tool' | 'preview'> & { readonly id: number }

async function answer(handle: SessionHandle, asked: Asked, options: RunTurnOptions, watcher: Watcher): Promise<void> {
  const { approvals } = options
  const decision = approvals === 'approve' ? 'approve' : 'reject'
  const what = `${escapeLine(asked.tool)} asks to run: ${previewText(asked.preview)}`
  const why = approvals === 'nobody' ? 'Refused, because nobody can be asked here; --yes would approve it.' : null
  await watcher.note(`? ${what}\n  ${why ?? (decision === 'approve' ? 'Approved by --yes.' : 'Refused by --no.')}`)
  const message = 'Refused: this session runs without a person who could look at it. Do not ask for it again.'
  const answered = await handle.submit({
    type: 'respondToApproval',
    decision,
    approval: asked.id,
    ...(decision === 'reject' && { message }),
  })
  if (!answered.ok && answered.fault.code !== 'already_decided')
    await watcher.note(escapeHidden(answered.fault.message))
}

async function tellEnd(
  handle: SessionHandle,
  end: TurnEnded,
  { text, usage }: { readonly text: string; readonly usage: FrameOf<'snapshot'>['meta']['usage'] },
  watcher: Watcher,
  { interruption }: RunTurnOptions,
): Promise<Ended> {
  const { reason, fault: why } = end
  const after = await handle.snapshot()
  const status = after.ok ? after.value.view.status : reason === 'failed' ? 'error' : 'idle'
  await watcher.end({ sessionId: handle.id, text, status, usage, reason, ...(why && { fault: why }) })
  if (reason !== 'done') await watcher.note(escapeHidden(why?.message ?? unfinished[reason]))
  return ended(exitCodeOf(reason, interruption.aborted))
}

function exitCodeOf(reason: TurnEnded['reason'], isInterrupted: boolean): ExitCode {
  if (reason === 'done') return exitCodes.ok
  return isInterrupted && reason === 'aborted' ? exitCodes.interrupted : exitCodes.failed
}

const unfinished: Readonly<Record<Exclude<TurnEnded['reason'], 'done'>, string>> = {
  aborted: 'The turn was aborted.',
  failed: 'The turn failed.',
  interrupted: 'The turn was interrupted.',
  limit: 'The turn reached its limit of steps; prompt again to go on.',
}

function stillAsks({ meta, view }: FrameOf<'snapshot'>): Fault {
  const [asked] = view.pendingApprovals
  const what = asked ? `${asked.tool}: ${previewText(asked.preview)}` : 'a call'
  const message = `Session ${meta.handle} still waits for an answer to ${what}. Give it with --yes, --no, or holdfast tell ${meta.handle} respondToApproval decision=${Decision.options.join('|')}.`
  return fault('turn_running', message, { session: meta.id, approvals: view.pendingApprovals.map(({ id }) => id) })
}
