import { z } from 'zod'
import { BlobHash, CallId, ClientId, Instant } from '../value/id.ts'
import { TrustScope } from './trust.ts'

/** Exactly what will run, for the person who is asked. */
export const Preview = z.discriminatedUnion('type', [
  z.object({ type: z.literal('command'), command: z.string(), cwd: z.string() }),
  z.object({ type: z.literal('diff'), path: z.string(), diff: z.string() }),
  z.object({ type: z.literal('arguments'), args: z.record(z.string(), z.unknown()) }),
])
export type Preview = z.infer<typeof Preview>

/** What a tool returned. Long output is a blob; `text` then holds its head and tail with a marker between. */
export const Output = z.object({
  text: z.string(),
  blob: z.object({ hash: BlobHash, bytes: z.int().min(0) }).optional(),
})
export type Output = z.infer<typeof Output>

export const DenialCode = z.enum(['rejected', 'plan_mode', 'outside_boundary', 'vetoed', 'rule', 'timed_out'])
export type DenialCode = z.infer<typeof DenialCode>

/** Each call settles once. Only `ok` and `failed` mean that the tool ran to its end. */
export const Outcome = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ok'), output: Output }),
  z.object({ type: z.literal('failed'), output: Output }),
  z.object({ type: z.literal('denied'), code: DenialCode, message: z.string() }),
  z.object({
    type: z.literal('interrupted'),
    code: z.enum(['aborted', 'cancelled', 'crashed', 'stopped']),
    /** What it printed before it was cut short. */
    output: Output.optional(),
  }),
])
export type Outcome = z.infer<typeof Outcome>

/** Who or what allowed a call: a person's client, or the rule that spoke for them. */
export const ApprovedBy = z.union([z.object({ client: ClientId.nullable() }), z.object({ rule: z.string() })])
export type ApprovedBy = z.infer<typeof ApprovedBy>

export const ApprovalAsked = z.object({
  type: z.literal('approval.asked'),
  call: CallId,
  tool: z.string(),
  /** The answer binds exactly these arguments. */
  argsHash: BlobHash,
  preview: Preview,
  /** When nobody's answer becomes a no; never when absent. */
  expiresAt: Instant.optional(),
})

export const CallApproved = z.object({
  type: z.literal('call.approved'),
  call: CallId,
  argsHash: BlobHash,
  by: ApprovedBy,
  /** How far the answer reaches; beyond `once` a trust is granted with it. */
  scope: z.enum(['once', ...TrustScope.options]),
})

/** Enough to find and end what a dead process left running, without harming a stranger who got the same number. */
export const ProcessMark = z.object({ group: z.int().min(2), startedAt: z.string() })
export type ProcessMark = z.infer<typeof ProcessMark>

export const CallStarted = z.object({
  type: z.literal('call.started'),
  call: CallId,
  process: ProcessMark.optional(),
})

export const FileChange = z.object({ path: z.string(), change: z.enum(['created', 'modified', 'deleted']) })
export type FileChange = z.infer<typeof FileChange>

export const CallSettled = z.object({
  type: z.literal('call.settled'),
  call: CallId,
  outcome: Outcome,
  /** Null when it never ran. */
  durationMs: z.number().min(0).nullable(),
  by: z.object({ client: ClientId.nullable() }).optional(),
  files: z.array(FileChange).optional(),
})

/** What a call came to, in the words its reader gets: a person here, the model in a request. */
export function outcomeOutput(outcome: Outcome): Output {
  switch (outcome.type) {
    case 'ok':
    case 'failed':
      return outcome.output
    case 'denied':
      return { text: `${outcome.code}: ${outcome.message}` }
    case 'interrupted': {
      const said = {
        aborted: 'stopped by a person',
        cancelled: 'cancelled before it ran',
        crashed: 'cut short by a crash',
        stopped: 'cut short when its process was stopped',
      }
      const note = `interrupted: ${said[outcome.code]}${outcome.code === 'cancelled' ? '' : '; what it did is not known'}`
      return outcome.output ? { ...outcome.output, text: `${outcome.output.text}\n${note}` } : { text: note }
    }
  }
}
