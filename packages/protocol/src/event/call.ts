import { z } from 'zod'
import { FilePart } from '../value/content.ts'
import { ApprovalId, BlobHash, CallId, ClientId, Instant } from '../value/id.ts'
import { QuestionReply } from '../value/question.ts'
import { SeenLines } from '../value/seen.ts'
import { Permission } from '../value/settings.ts'
import { Todo } from '../value/todo.ts'
import { FileChange } from './file-change.ts'
import { Preview, QuestionPreview } from './preview.ts'
import { TrustScope } from './trust.ts'

/** Output of a tool. Long output is a blob; `text` then holds its head and tail with a marker between. */
export const Output = z.object({
  /** The text that people and the model see. */
  text: z.string(),
  /** The whole output, if it is too long for a record. */
  blob: z.object({ hash: BlobHash, bytes: z.int().min(0) }).optional(),
  /** Images and PDF files that a model gets beside the text, if it takes them. */
  fileParts: z.array(FilePart).optional(),
})
export type Output = z.infer<typeof Output>

/** Why a call was denied: by a person, by a rule, by its mode, or because nobody answered. */
export const DenialCode = z.enum(['rejected', 'plan_mode', 'outside_boundary', 'vetoed', 'rule', 'timed_out'])
export type DenialCode = z.infer<typeof DenialCode>

/** Names what answered in place of a person, such as `--yes`. */
export const AnsweredVia = z.string().trim().min(1).max(100)

/** Result of a call, recorded once. Only `ok` and `failed` mean that the tool finished. */
export const Outcome = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ok'), output: Output }),
  z.object({ type: z.literal('failed'), output: Output }),
  z.object({
    type: z.literal('denied'),
    code: DenialCode,
    message: z.string(),
    /** What rejected it in place of a person, such as `--no`. */
    via: AnsweredVia.optional(),
  }),
  z.object({
    type: z.literal('interrupted'),
    code: z.enum(['aborted', 'cancelled', 'crashed', 'stopped']),
    /** Output from before the interruption. */
    output: Output.optional(),
  }),
])
export type Outcome = z.infer<typeof Outcome>

/** The client or the rule that allowed a call. With `via` no person of the client was asked: that answered for them. */
export const ApprovedBy = z.union([
  z.object({ client: ClientId.nullable(), via: AnsweredVia.optional() }),
  z.object({ rule: z.string() }),
])
export type ApprovedBy = z.infer<typeof ApprovedBy>

/** Says why a call ran without a person's approval. */
export const ruleText = (rule: string): string =>
  rule === 'not destructive'
    ? 'ran without asking: read-only'
    : rule === 'approvals: none'
      ? 'ran without asking: this session never asks'
      : `allowed by ${rule}`

/** Says who or what allowed a call. */
export function approvalText(by: ApprovedBy): string {
  if ('rule' in by) return ruleText(by.rule)
  return `approved by ${by.via ?? by.client ?? 'a person'}`
}

/** Says why a person is asked about a call; null if no rule covers it, so that it is asked because it changes something. */
export function askText({
  reason,
  rule,
}: {
  readonly reason?: string | undefined
  readonly rule?: string | undefined
}) {
  if (reason !== undefined) return `asked each time: ${reason}`
  if (rule === 'approvals: all') return 'this session asks about every call'
  return rule === undefined ? null : `${rule} asks`
}

/** Identifies a process group left by a dead process. The start time guards against a reused number. */
export const ProcessMark = z.object({ group: z.int().min(2), startedAt: z.string() })
export type ProcessMark = z.infer<typeof ProcessMark>

export const callEvents = [
  z.object({
    type: z.literal('approval.asked'),
    call: CallId,
    tool: z.string(),
    /** The answer is valid for exactly these arguments. */
    argsHash: BlobHash,
    preview: Preview,
    /** Identifies the content that the preview was made from. The answer is valid for exactly this content. */
    contentHash: BlobHash.optional(),
    /** The content changed after the call was approved: the question is put again. */
    changed: z.literal(true).optional(),
    /** Why the question is put each time, whatever is trusted or allowed. The answer covers only this call. */
    reason: z.string().optional(),
    /** The rule that wants a person to be asked; absent if no rule covers the call. */
    rule: z.string().optional(),
    /** The hook that changed the arguments of the call, if one did. */
    rewrittenBy: z.string().optional(),
    /** When an unanswered approval is denied; never when absent. */
    expiresAt: Instant.optional(),
  }),
  /** A hook changed the arguments. These are judged, shown, approved and run instead of those of the model. */
  z.object({
    type: z.literal('call.rewritten'),
    call: CallId,
    args: z.record(z.string(), z.unknown()),
    /** The hook that changed them last. */
    hook: z.string(),
  }),
  z.object({
    type: z.literal('call.approved'),
    call: CallId,
    argsHash: BlobHash,
    by: ApprovedBy,
    /** The content that the call may change; a call that depends on none has no such hash. */
    contentHash: BlobHash.optional(),
    /** How far the approval reaches. Beyond `once` it also grants trust, or has stored `rule`. */
    scope: z.enum(['once', ...TrustScope.options]),
    /** The rule of the user that the answer has stored. */
    rule: Permission.optional(),
  }),
  z.object({
    type: z.literal('call.started'),
    call: CallId,
    process: ProcessMark.optional(),
  }),
  /** A running call asks a person. It is answered like an approval; its id is the seq of this record. */
  z.object({
    type: z.literal('question.asked'),
    call: CallId,
    tool: z.string(),
    preview: QuestionPreview,
    /** When an unanswered question is cancelled; never when absent. */
    expiresAt: Instant.optional(),
  }),
  z.object({
    type: z.literal('question.answered'),
    call: CallId,
    question: ApprovalId,
    reply: QuestionReply,
    /** The client that answered; absent if nobody did. */
    by: z.object({ client: ClientId.nullable(), via: AnsweredVia.optional() }).optional(),
  }),
  z.object({
    type: z.literal('call.settled'),
    call: CallId,
    outcome: Outcome,
    /** Null when the tool did not run. */
    durationMs: z.number().min(0).nullable(),
    by: z.object({ client: ClientId.nullable() }).optional(),
    files: z.array(FileChange).optional(),
    /** Lines of files that the call has shown to the model. */
    seen: z.array(SeenLines).optional(),
    /** The agent's list of tasks from now on; as before when absent. */
    todos: z.array(Todo).optional(),
  }),
] as const

/** Returns the output of a call as shown to people and sent to the model. */
export function outcomeOutput(outcome: Outcome): Output {
  switch (outcome.type) {
    case 'ok':
    case 'failed':
      return outcome.output
    case 'denied':
      return { text: `${outcome.code}: ${outcome.message}` }
    case 'interrupted': {
      const causes = {
        aborted: 'stopped by a person',
        cancelled: 'cancelled before it ran',
        crashed: 'cut short by a crash',
        stopped: 'cut short when its process was stopped',
      }
      const note = `interrupted: ${causes[outcome.code]}${outcome.code === 'cancelled' ? '' : '; what it did is not known'}`
      return outcome.output ? { ...outcome.output, text: `${outcome.output.text}\n${note}` } : { text: note }
    }
  }
}
