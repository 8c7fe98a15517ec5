import type { HookAnswer } from '@holdfast/core/ports'
import { clip, type HookEvent } from '@holdfast/protocol'
import { onHookFailure } from './hook-event.ts'

/** How the process of a hook ended. */
export type HookEnd =
  | { readonly type: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly type: 'failed'; readonly why: string; readonly stdout: string; readonly stderr: string }

/** What one hook decided. */
export type HookReply = Omit<HookAnswer, 'args'> & {
  readonly args: Readonly<Record<string, unknown>> | null
  /** Text for the person. */
  readonly message: string | null
  /** Why it failed, if it did. */
  readonly failure: string | null
}

export const noReply: HookReply = {
  block: null,
  permission: null,
  args: null,
  result: null,
  context: null,
  message: null,
  stop: null,
  failure: null,
}

const textCharsMax = 10_000
/** Events whose plain output is context for the model. */
const speaksPlainly: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart'])
const blockedCode = 2
const noReason = 'A hook blocked it and gave no reason.'

/**
 * Reads what a hook answered. Exit code 2 blocks, with standard error as the reason. Code 0 allows, and its output may be JSON
 * that says more. Anything else is a failure: it refuses what can be refused, unless the hook is set to continue.
 */
export function readHookAnswer(event: HookEvent, end: HookEnd, continuesOnFailure = false): HookReply {
  if (end.type === 'failed') return failedReply(event, end.why, continuesOnFailure)
  const reason = clip(end.stderr.trim(), textCharsMax)
  if (end.code === blockedCode) return { ...noReply, block: reason || noReason }
  if (end.code !== 0) {
    const said = reason === '' ? '' : `: ${reason}`
    return failedReply(event, `the hook ended with exit code ${end.code}${said}`, continuesOnFailure)
  }
  const output = end.stdout.trim()
  if (!output.startsWith('{'))
    return speaksPlainly.has(event) && output !== '' ? { ...noReply, context: clip(output, textCharsMax) } : noReply
  const json = parseObject(output)
  if (json !== null) return readJson(event, json)
  return failedReply(event, 'the output of the hook begins like JSON, but is not', continuesOnFailure)
}

/** Returns the answer of a hook that failed. */
export function failedReply(event: HookEvent, why: string, continuesOnFailure: boolean): HookReply {
  const isVeto = onHookFailure[event] === 'veto' && !continuesOnFailure
  return { ...noReply, failure: why, block: isVeto ? `A hook could not decide: ${why}.` : null }
}

type Json = Readonly<Record<string, unknown>>

function readJson(event: HookEvent, json: Json): HookReply {
  const specific = objectOf(json['hookSpecificOutput'])
  const own = specific['hookEventName'] === undefined || specific['hookEventName'] === event ? specific : {}
  const reason = textOf(json['reason']) ?? textOf(own['permissionDecisionReason'])
  const decision = event === 'PreToolUse' ? own['permissionDecision'] : undefined
  const blocks = json['decision'] === 'block' || decision === 'deny'
  return {
    block: blocks ? (reason ?? noReason) : null,
    // `defer` leaves the decision to the person.
    permission: decision === 'allow' ? 'allow' : decision === 'ask' || decision === 'defer' ? 'ask' : null,
    args: event === 'PreToolUse' && isObject(own['updatedInput']) ? own['updatedInput'] : null,
    result: event === 'PostToolUse' ? outputOf(own['updatedToolOutput']) : null,
    context: textOf(own['additionalContext']),
    message: textOf(json['systemMessage']),
    stop: json['continue'] === false ? (textOf(json['stopReason']) ?? 'A hook ended the turn.') : null,
    failure: null,
  }
}

/** Returns a new result as text: a program may give any JSON. */
const outputOf = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** Joins the answers of several hooks: a block beats a question, which beats an allowance. */
export function joinReplies(replies: readonly HookReply[]): Omit<HookAnswer, 'args'> {
  const first = (field: 'block' | 'stop') => replies.find((reply) => reply[field] !== null)?.[field] ?? null
  const permissions = replies.map(({ permission }) => permission)
  return {
    block: first('block'),
    stop: first('stop'),
    context: replies.flatMap(({ context }) => context ?? []).join('\n\n') || null,
    permission: permissions.includes('ask') ? 'ask' : permissions.includes('allow') ? 'allow' : null,
    result: replies.findLast(({ result }) => result !== null)?.result ?? null,
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? clip(value, textCharsMax) : null

function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
