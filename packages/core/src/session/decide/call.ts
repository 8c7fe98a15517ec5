import {
  type BlobHash,
  type CallId,
  type ClientId,
  type Event,
  type EventOf,
  type Outcome,
  type Preview,
  TurnNumber,
  unreachable,
} from '@holdfast/protocol'
import { isSameChange } from '../../policy/preview.ts'
import { judge, type Verdict } from '../../policy/verdict.ts'
import type { Events, ReadyCall, ReportOf } from '../input.ts'
import { findCall, type SessionState } from '../state.ts'
import { moveBoundaries } from './boundary.ts'
import { hooksRan } from './hook.ts'
import { withdrawQuestion } from './question.ts'

/** Settles a call that did not run to its end; `by` is the client that ended it. */
export const settle = (call: CallId, outcome: Outcome, by?: ClientId | null): Event => ({
  type: 'call.settled',
  call,
  outcome,
  durationMs: null,
  ...(by !== undefined && { by: { client: by } }),
})

/** Applies the policy to a prepared call: run it, ask a person, or deny it with a reason for the model. */
export function judgeCall(state: SessionState, { call, found, atMs }: ReportOf<'call.prepared'>): Events {
  if (findCall(state, call)?.status !== 'requested') return []
  if ('unusable' in found) {
    const { unusable, denied: code } = found
    if (code !== undefined) return deny(state, call, { type: 'deny', code, message: unusable })
    return [settle(call, { type: 'failed', output: { text: unusable } })]
  }
  const { facts, argsHash, contentHash } = found
  const target = { argsHash, ...(contentHash !== undefined && { contentHash }) }
  const verdict = judge(facts, state)
  switch (verdict.type) {
    case 'allow':
      return [{ type: 'call.approved', call, ...target, by: { rule: verdict.rule }, scope: 'once' }]
    case 'ask':
      return [askFor(state, call, verdict, found, atMs)]
    case 'deny':
      return deny(state, call, verdict)
    default:
      return unreachable(verdict)
  }
}

function askFor(
  state: SessionState,
  call: CallId,
  { reason, rule }: Extract<Verdict, { type: 'ask' }>,
  { facts, argsHash, contentHash, preview }: ReadyCall,
  atMs: number,
): EventOf<'approval.asked'> {
  const target = { argsHash, ...(contentHash !== undefined && { contentHash }) }
  const rewritten = findCall(state, call)?.rewritten
  const why = {
    ...(reason !== undefined && { reason }),
    ...(rule !== undefined && { rule }),
    ...(rewritten && { rewrittenBy: rewritten.by }),
  }
  return { type: 'approval.asked', call, tool: facts.tool, ...target, preview, ...why, ...expiry(state, atMs) }
}

/**
 * Decides about an approved call whose content changed before it ran. A change by an earlier call of the session is no
 * obstacle if nobody has to be asked, or if the call would still change the same. A person who was asked is asked again.
 * A change by anybody else is never overwritten unseen.
 */
export function judgeChangedCall(state: SessionState, { call, found, atMs }: ReportOf<'call.changed'>): Events {
  const approved = findCall(state, call)
  if (approved?.status !== 'approved') return []
  const verdict = judge(found.facts, state)
  if (verdict.type === 'deny') return deny(state, call, verdict)
  const isOwn = isWrittenHere(state, found.contentHash)
  const isAsSeen = approved.preview !== null && isSameChange(approved.preview, found.preview)
  if (isOwn && (verdict.type === 'allow' || isAsSeen)) return [] // it still may run
  if (verdict.type === 'ask') return [{ ...askFor(state, call, verdict, found, atMs), changed: true }]
  return [settle(call, { type: 'failed', output: { text: changedText(found.preview) } })]
}

const isWrittenHere = ({ turn }: SessionState, hash: BlobHash | undefined): boolean =>
  turn.phase === 'acting' && hash !== undefined && turn.written.includes(hash)

const changedText = (preview: Preview): string =>
  `content_changed: ${preview.type === 'diff' ? preview.path : 'something it depends on'} changed after this call was prepared; nothing was written. Read it again.`

/** Settles a call as denied. The model gets the reason as the result; people also see a denial by plan mode. */
function deny({ turn }: SessionState, call: CallId, { code, message }: Extract<Verdict, { type: 'deny' }>): Events {
  const settled = settle(call, { type: 'denied', code, message })
  if (code !== 'plan_mode' || turn.phase === 'idle') return [settled]
  return [settled, { type: 'note.added', turn: turn.number, kind: 'notice', level: 'info', code, text: message }]
}

const expiry = ({ settings: { approvalTimeoutMs } }: SessionState, atMs: number) =>
  approvalTimeoutMs === undefined ? {} : { expiresAt: new Date(atMs + approvalTimeoutMs).toISOString() }

/** Records an approval that expired as a denial, and a question that did so as cancelled. */
export function expireApproval(state: SessionState, { call }: ReportOf<'approval.expired'>): Events {
  const waiting = findCall(state, call)
  if (waiting?.status !== 'asked') return withdrawQuestion(waiting)
  return [settle(call, { type: 'denied', code: 'timed_out', message: 'not answered in time' })]
}

/** Records the start of an approved call, once. Plan mode may have begun since the approval. */
export function startCall(state: SessionState, { call, facts, process }: ReportOf<'tool.starting'>): Events {
  if (findCall(state, call)?.status !== 'approved') return []
  const verdict = judge(facts, state)
  if (verdict.type === 'deny') return deny(state, call, verdict)
  return [{ type: 'call.started', call, ...(process && { process }) }]
}

/** Settles a call, once. It may fail before it starts, at its last check. */
export function settleCall(
  state: SessionState,
  { call, outcome, durationMs, files, seen = [], todos, skill, hooks, child }: ReportOf<'tool.finished'>,
): Events {
  const status = findCall(state, call)?.status
  if (status !== 'started' && status !== 'approved') return []
  const settled = {
    type: 'call.settled',
    call,
    outcome,
    durationMs,
    ...(files.length > 0 && { files: [...files] }),
    ...(seen.length > 0 && { seen: [...seen] }),
    ...(todos && { todos: [...todos] }),
  } as const
  const activated = skill && ({ type: 'skill.activated', ...skill, by: 'model', inConversation: true } as const)
  const ended: Events = child ? [{ type: 'child.ended', call, child: child.session, status: child.status }] : []
  return [
    ...withdrawQuestion(findCall(state, call)),
    ...hooksRan(state, hooks, call),
    ...ended,
    settled,
    ...moveBoundaries(state, files),
    ...(activated ? [activated] : []),
  ]
}

/** Records what was done to files outside of a running call: by one that was aborted, in the background, by a slash command. */
export const recordTouched = (
  state: SessionState,
  { call, slashCommand, files, notice }: ReportOf<'files.found'>,
): Events => [
  {
    type: 'files.touched',
    ...(call !== undefined && { call }),
    ...(slashCommand !== undefined && { slashCommand }),
    files: [...files],
  },
  ...moveBoundaries(state, files),
  ...(notice === undefined ? [] : [noticeOf(state, 'outside_boundary', `${notice}${putBack(call)}`)]),
]

/** Names the command that puts the files of a call back. */
const putBack = (call: number | undefined): string =>
  call === undefined ? '' : ` That was call ${call}: restoreFiles with call=${call} puts them back.`

/** Adds a notice for people about a process that outlived its aborted call. */
export function noteEscapedProcess(state: SessionState, { tool, text }: ReportOf<'process.escaped'>): Events {
  return [noticeOf(state, 'left_running', `${tool}: ${text}`)]
}

/** Tells people what happened outside of a turn. It is shown with the last one. */
const noticeOf = (state: SessionState, code: string, text: string): Event => ({
  type: 'note.added',
  kind: 'notice',
  level: 'error',
  code,
  text,
  turn: TurnNumber.parse(Math.max(0, state.turns - 1)),
})
