import { escapeLine, limits, ok, type Todo } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { textArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, whenBegun } from '../define/define-tool.ts'

const { todosMax, todoCharsMax, todoIdCharsMax } = limits

const task = z.strictObject({
  id: textArgument
    .min(1, 'must not be empty')
    .max(todoIdCharsMax, `must not be longer than ${todoIdCharsMax} characters`)
    .optional()
    .describe('Names the task in later lists. By default its number in the list.'),
  description: textArgument
    .refine((text) => text.trim() !== '', 'must not be empty')
    .max(todoCharsMax, `must not be longer than ${todoCharsMax} characters`)
    .describe('What is to be done, in one line.'),
  status: z
    .enum(['pending', 'in_progress', 'done'], { error: 'must be pending, in_progress or done' })
    .default('pending')
    .describe('Default pending. At most one task is in progress.'),
})

const input = z.strictObject({
  tasks: z
    .array(task, { error: 'must be a list of tasks, each with a description' })
    .max(todosMax, `must not have more than ${todosMax} tasks`)
    .refine((tasks) => new Set(tasks.map(idOf)).size === tasks.length, 'must not have two tasks with the same id')
    .refine(
      (tasks) => tasks.filter(({ status }) => status === 'in_progress').length <= 1,
      'must have at most one task in progress',
    )
    .describe('The whole list, which replaces the former one. An empty list clears it.'),
})

const idOf = ({ id }: z.infer<typeof task>, index: number): string => id ?? String(index + 1)

/** Writes the agent's list of tasks. It is recorded with the call, so that clients see it and a restart keeps it. */
export const todoWriteTool = defineTool({
  name: 'todo_write',
  description: `Writes your list of tasks for work with several steps, which the person sees. Send the whole list each time, and update it as you go. At most ${todosMax} tasks.`,
  input,
  changes: 'nothing',

  async preview(args, { workdir }) {
    const folder = await resolveWorkdir(workdir)
    return folder.ok ? ok({ preview: { type: 'arguments', args } }) : folder
  },

  async run({ tasks }, { workdir }, run) {
    if (!(await begun(run))) return abortedResult
    const folder = await resolveWorkdir(workdir)
    if (!folder.ok) return failedWith(folder.fault)
    const todos = tasks.map((one, index): Todo => ({ ...one, id: idOf(one, index) }))
    return { type: 'ok', output: { text: describeTodos(todos) }, todos }
  },
})

/** Returns the agent's list of tasks to the model. */
export const todoReadTool = defineTool({
  name: 'todo_read',
  description: 'Returns your list of tasks, as you last wrote it with todo_write.',
  input: z.strictObject({}),
  changes: 'nothing',

  async preview(args, { workdir }) {
    const folder = await resolveWorkdir(workdir)
    return folder.ok ? ok({ preview: { type: 'arguments', args } }) : folder
  },

  run: whenBegun(async (_: object, { workdir }, { session }) => {
    const folder = await resolveWorkdir(workdir)
    return folder.ok ? ok({ text: describeTodos(session?.todos ?? []) }) : folder
  }),
})

const marks: Readonly<Record<Todo['status'], string>> = { pending: '[ ]', in_progress: '[>]', done: '[x]' }

function describeTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list of tasks is empty.'
  return todos
    .map(({ id, description, status }) => `${marks[status]} ${escapeLine(id)}: ${escapeLine(description)}`)
    .join('\n')
}
