import { z } from 'zod'
import { cutText } from '../text/cut-text.ts'
import { BlobHash } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { QuestionField } from '../value/question.ts'

/** The whole of a preview that is too long for a record. */
const blob = z.object({ hash: BlobHash, bytes: z.int().min(0) }).optional()

/** Whether a command runs in the sandbox, and what it can reach. */
export const PreviewSandbox = z.object({
  /** Whether the command is confined. */
  isInForce: z.boolean(),
  /** Whether it has the network. */
  network: z.boolean(),
  /** Why it is not in force, as part of a sentence. */
  reason: z.string().optional(),
})
export type PreviewSandbox = z.infer<typeof PreviewSandbox>

/** Says to a person what an approved command can reach. Absent: a command from before there was a sandbox. */
export function sandboxSentence(sandbox: PreviewSandbox | undefined): string {
  if (!sandbox) return 'An approved command can do what you can do.'
  const { isInForce, network, reason } = sandbox
  if (!isInForce) return `No sandbox (${reason ?? 'unknown'}): an approved command can do what you can do.`
  return `In the sandbox: it writes only the working directory, ${network ? 'with the network' : 'without the network'}.`
}

/** A question that a running call puts to a person. */
export const QuestionPreview = z.object({
  /** Tells a question from what would run. */
  type: z.literal('question'),
  /** Who asks, such as the name of a server. */
  from: z.string(),
  /** What is asked. */
  message: z.string(),
  /** What to fill in. */
  fields: z.array(QuestionField),
  /** A page where the person shall do something. It is opened only by the person. */
  url: z.string().optional(),
  /** Never set: a question is short. */
  blob,
})
export type QuestionPreview = z.infer<typeof QuestionPreview>

/** Shows a person exactly what will run. Of a long one, its head and tail; the whole is a blob. */
export const Preview = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('command'),
    command: z.string(),
    cwd: z.string(),
    /** Set if the command goes on after its call: in the background. */
    background: z.literal(true).optional(),
    sandbox: PreviewSandbox.optional(),
    blob,
  }),
  z.object({ type: z.literal('diff'), path: z.string(), diff: z.string(), blob }),
  z.object({ type: z.literal('arguments'), args: z.record(z.string(), z.unknown()), blob }),
  QuestionPreview,
])
export type Preview = z.infer<typeof Preview>

/** A preview that fits in a record. `whole` is the text that was cut; null if nothing was. */
type Bounded = { readonly preview: Preview; readonly whole: Uint8Array<ArrayBuffer> | null }

/** Cuts a long preview to its head and tail, with a line between them that says how much is left out. */
export function boundPreview(preview: Preview): Bounded {
  switch (preview.type) {
    case 'command':
      return bound(preview.command, '', (command) => ({ ...preview, command }))
    case 'diff':
      // A line that begins with a backslash is a comment in a diff.
      return bound(preview.diff, '\\ ', (diff) => ({ ...preview, diff }))
    case 'arguments': {
      const json = JSON.stringify(preview.args, null, 2)
      return bound(json, '', (text) => (text === json ? preview : { ...preview, args: { arguments: text } }))
    }
    case 'question':
      return { preview, whole: null } // it was bounded when it was asked
  }
}

function bound(text: string, comment: string, withText: (text: string) => Preview): Bounded {
  if (text.length <= limits.previewBytesMax / 3) return { preview: withText(text), whole: null } // a unit has up to 3 bytes
  const mark = (leftOut: number) => `\n${comment}[… ${leftOut} bytes left out …]\n`
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= limits.previewBytesMax) return { preview: withText(text), whole: null }
  const isTooLong = bytes.length > limits.previewWholeBytesMax
  const whole = isTooLong ? new TextEncoder().encode(cutText(bytes, limits.previewWholeBytesMax, mark)) : bytes
  return { preview: withText(cutText(bytes, limits.previewBytesMax, mark)), whole }
}
