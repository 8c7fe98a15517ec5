import { escapeLine, limits, ok, type Result } from '@holdfast/protocol'
import { z } from 'zod'
import { textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type Change, unifiedDiff } from '../edits/unified-diff.ts'

/** The part of memory that the tool uses. */
export interface WritableMemory {
  /** Returns what the file would contain. Changes nothing. */
  foresee(note: Note): Promise<Result<Change>>
  append(note: Note): Promise<Result<Appended>>
}

type Note = { readonly workdir: string; readonly scope: 'user' | 'workspace'; readonly text: string }
type Appended = {
  readonly path: string
  readonly change: 'created' | 'modified'
  readonly line: string
  readonly isTold: boolean
}

const input = z.strictObject({
  text: textArgument
    .refine((text) => text.trim() !== '', 'must not be empty')
    .max(limits.memoryNoteCharsMax, `must not be longer than ${limits.memoryNoteCharsMax} characters`)
    .describe('What to remember, in a sentence or two that can be understood on their own.'),
  scope: z
    .enum(['user', 'workspace'], { error: 'must be user or workspace' })
    .default('workspace')
    .describe('workspace: for sessions in this working directory. user: for every session of this person.'),
})

/** Creates the tool. It counts as a change, because later sessions follow their memory: a person must see it first. */
export const createMemoryWrite = (memory: WritableMemory) =>
  defineTool({
    name: 'memory_write',
    description:
      'Adds one dated line to the memory that later sessions are told at their start. For lasting facts and wishes that the person wants kept; not for secrets, nor for what only this task needs.',
    input,
    changes: 'something',

    async preview(args, { workdir }) {
      const change = await memory.foresee({ ...args, workdir })
      if (!change.ok) return change
      return ok({ preview: { type: 'diff', path: change.value.path, diff: unifiedDiff(change.value) } })
    },

    run: whenBegun(async (args: z.infer<typeof input>, { workdir }) => {
      const appended = await memory.append({ ...args, workdir })
      if (!appended.ok) return appended
      const { path, change, line, isTold } = appended.value
      const untold =
        '. No later session is told it yet: the file has notes which no person trusts. A person can trust them with holdfast trust.'
      const text = `added to ${escapeLine(path)}: ${line}${isTold ? '' : untold}`
      // The user's memory is not a file of the workspace.
      return ok(args.scope === 'user' ? { text } : { text, files: [{ path, change }] })
    }),
  })
