import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ToolArgs } from '@holdfast/core/ports'
import { invariant, SessionId } from '@holdfast/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { createToolRun, describeTool, openWorkdir } from '../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../context/memory/memory.ts'
import { createTools } from './tools.ts'

const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })
const author = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org' }
const committer = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org' }
const tools = createTools({ environment: { ...process.env, ...author, ...committer }, memory })

const sample = (name: string, args: ToolArgs, repository?: 'unstaged' | 'staged') => async () => {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'notes.txt'), 'one\ntwo\n')
  const git = (...words: readonly string[]) => promisify(execFile)('git', words, { cwd: workdir })
  if (repository) await git('init', '-q', '--template=')
  if (repository === 'staged') await git('add', '.')
  const tool = tools.find(name)
  invariant(tool, `no tool ${name}`)
  const outlast = async () => {
    for (let round = 0; round < 3; round++) await promisify(execFile)('/bin/sh', ['-c', '/bin/sh -c true'])
  }
  return { tool, context: { workdir }, args, outlast }
}

describeTool('read_file', sample('read_file', { path: 'notes.txt', offset: 1, limit: 5 }))
describeTool('list_directory', sample('list_directory', { path: '.' }))
describeTool('write_file', sample('write_file', { path: 'new/deep/file.txt', content: 'three\n' }))
describeTool('edit_file', sample('edit_file', { path: 'notes.txt', old_text: 'one', new_text: 'eins' }))
describeTool(
  'multi_edit_file',
  sample('multi_edit_file', { path: 'notes.txt', edits: [{ old_text: 'one', new_text: 'eins' }] }),
)
describeTool('apply_diff', sample('apply_diff', { path: 'notes.txt', diff: '@@\n-one\n+eins\n two\n' }))
describeTool('delete_file', sample('delete_file', { path: 'notes.txt' }))
describeTool('move_file', sample('move_file', { path: 'notes.txt', new_path: 'new/deep/notes.txt' }))
describeTool('shell', sample('shell', { command: 'echo made > made.txt', timeout: 30 }))
describeTool('memory_write', sample('memory_write', { text: 'tabs, not blanks', scope: 'workspace' }))

const inBackground = (name: string, more: ToolArgs) => async () => {
  const made = await sample('shell', {})()
  const context = { ...made.context, session: SessionId.parse(`ses_0${'2'.repeat(25)}`) }
  const started = await made.tool.run({ command: 'sleep 1000', background: true }, context, createToolRun().run)
  onTestFinished(() => tools.background?.end(context.session))
  const tool = tools.find(name)
  invariant(tool, `no tool ${name}`)
  return { ...made, tool, context, args: { id: /as (\w+)\./.exec(started.output.text)?.[1], ...more } }
}

describeTool('shell_output', inBackground('shell_output', { filter: 'x', wait: 0 }))
describeTool('shell_stop', inBackground('shell_stop', {}))
describeTool('find', sample('find', { pattern: '*.txt', path: '.', limit: 5 }))
describeTool('grep', sample('grep', { pattern: 'two', path: '.', glob: '*.txt' }))
describeTool('todo_write', sample('todo_write', { tasks: [{ description: 'read', status: 'done' }] }))
describeTool('todo_read', sample('todo_read', {}))
describeTool('describe_tools', sample('describe_tools', {}))
describeTool('git_status', sample('git_status', {}, 'unstaged'))
describeTool('git_diff', sample('git_diff', { path: 'notes.txt' }, 'staged'))
describeTool('git_log', sample('git_log', { count: 5 }, 'staged'))
describeTool('git_stage', sample('git_stage', { paths: ['notes.txt'] }, 'unstaged'))
describeTool('git_commit', sample('git_commit', { message: 'Add notes' }, 'staged'))

it('offers its tools and finds them by name', () => {
  expect(tools.all.map(({ schema }) => schema.name)).toEqual([
    'read_file',
    'list_directory',
    'write_file',
    'edit_file',
    'multi_edit_file',
    'apply_diff',
    'delete_file',
    'move_file',
    'find',
    'grep',
    'fetch_url',
    'git_status',
    'git_diff',
    'git_log',
    'git_stage',
    'git_commit',
    'shell',
    'shell_output',
    'shell_stop',
    'memory_write',
    'todo_write',
    'todo_read',
    'describe_tools',
  ])
  expect(tools.all.filter(({ isDestructive }) => isDestructive).map(({ schema }) => schema.name)).toEqual([
    'write_file',
    'edit_file',
    'multi_edit_file',
    'apply_diff',
    'delete_file',
    'move_file',
    'git_stage',
    'git_commit',
    'shell',
    'memory_write',
  ])
  expect(tools.find('rm_rf')).toBeNull()
})

it('describes the arguments to the model as JSON Schema', () => {
  expect(tools.find('shell')?.schema.input).toMatchObject({
    type: 'object',
    required: ['command'],
    properties: { command: { type: 'string' }, timeout: { type: 'integer', minimum: 1, maximum: 600, default: 120 } },
  })
})
