import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@holdfast/protocol'
import type { HostileCase } from '../case.ts'
import type { Block } from '../hostile-model.ts'
import { promptModel } from '../prompt-model.ts'
import { checkCalls, readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

/** Searches a hostile tree with hostile patterns. */
const searches: HostileCase = {
  name: 'searches',
  from: 'model',
  async run(run) {
    const [entries, chars] = run.isQuick ? [3000, 2_000_000] : [100_000, 50_000_000]
    const many = join(run.workdir, 'many')
    await mkdir(many)
    for (let from = 0; from < entries; from += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, each) => writeFile(join(many, `${'a'.repeat(60)}${from + each}`), '')),
      )
    await writeFile(join(run.workdir, 'line.txt'), 'a'.repeat(chars))
    await writeFile(join(run.workdir, 'evil\nname: 1:found.txt'), 'needle\n')
    const calls: readonly Block[] = [
      { tool: 'grep', args: { pattern: '(a+)+$' } },
      { tool: 'grep', args: { pattern: '(a|aa)+b', path: 'line.txt' } },
      { tool: 'grep', args: { pattern: 'a{1,1000}{1,1000}{1,1000}' } },
      { tool: 'grep', args: { pattern: 'needle', mode: 'files' } },
      { tool: 'find', args: { pattern: '**/*a*a*a*a*a*a*a*a*a*a*a*a*b' } },
      { tool: 'find', args: { pattern: `${'{a,b}'.repeat(40)}*` } },
      { tool: 'find', args: { pattern: '**/*', type: 'any', limit: 100 } },
    ]
    const handle = await promptModel(run, 'searches', () => calls)
    await waitForRest(handle, 1)
    const made = await readCalls(handle)
    const violations = made.length === calls.length ? [] : [`there are ${made.length} of ${calls.length} calls`]
    for (const { tool, args, status, result } of made) {
      const what = `${tool} ${JSON.stringify(args)}`
      const text = result?.text ?? ''
      if (status !== 'complete' && !/^[a-z_]+: /.test(text))
        violations.push(`${what} is ${status}: ${text.slice(0, 200)}`)
      if (text.length > 2 * limits.readFileBytesMax) violations.push(`${what} returns ${text.length} characters`)
      if (text.includes('evil\nname')) violations.push(`${what} returns a name with a line feed as it is`)
    }
    if (!made[3]?.result?.text.includes('evil')) violations.push('the file with a line feed in its name is not found')
    if (made[6]?.status !== 'complete') violations.push('the large folder is not listed')
    return { did: `searched a folder of ${entries} files and a line of ${chars} characters`, violations }
  },
}

/** Applies diffs with as many hunks, and as large a hunk, as fit in the arguments of a call, and more. */
const hostileDiffs: HostileCase = {
  name: 'hostile-diffs',
  from: 'model',
  async run(run) {
    const hunks = run.isQuick ? 20_000 : 84_000 // the arguments have nearly a megabyte
    const file = 'a\n'.repeat(200_000)
    await writeFile(join(run.workdir, 'a.txt'), file)
    const tooLong = ['@@\n-a\n+b\n'.repeat(200_000)]
    const fitting = [
      '@@\n-a\n+b\n'.repeat(hunks),
      '@@ -1 +1 @@\n-a\n+a\n'.repeat(hunks / 4),
      `@@\n${'-a\n'.repeat(hunks)}-not there\n${'+b\n'.repeat(hunks)}`,
      '@@\n'.repeat(hunks),
    ]
    const violations: string[] = []
    const applyAll = async (name: string, diffs: readonly string[], why: string) => {
      const handle = await promptModel(run, name, () =>
        diffs.map((diff) => ({ tool: 'apply_diff', args: { path: 'a.txt', diff } })),
      )
      if ((await waitForRest(handle, 1)) !== 'rests')
        violations.push('a diff that does not fit was offered for approval')
      violations.push(...(await checkCalls(handle, diffs.length, 'error', why)))
    }
    await applyAll('hostile-diffs', fitting, '')
    await applyAll('long-diff', tooLong, `longer than ${limits.callArgsBytesMax} bytes`)
    if ((await readFile(join(run.workdir, 'a.txt'), 'utf8')) !== file) violations.push('the file was changed')
    return { did: `applied ${fitting.length} diffs of up to ${hunks} hunks, and one that is too long`, violations }
  },
}

/** Makes edits whose result, or whose list of places, is far larger than the file and the arguments. */
const amplifiedEdits: HostileCase = {
  name: 'amplified-edits',
  from: 'model',
  async run(run) {
    const chars = run.isQuick ? 4_000_000 : limits.editedFileBytesMax - 1
    const files = {
      'a.txt': 'a'.repeat(chars),
      'lines.txt': 'a \n'.repeat(chars / 3),
      'blank.txt': '\n'.repeat(chars),
      'indent.txt': `${' '.repeat(chars / 2)}one\n${' '.repeat(chars / 2 - 10)}two\n`,
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(run.workdir, name), text)
    const replace = (path: string, old_text: string, new_text: string) =>
      ({ tool: 'edit_file', args: { path, old_text, new_text, replace_all: true } }) as const
    const blank = '\n'.repeat(run.isQuick ? 30_000 : 300_000)
    const calls: readonly Block[] = [
      ...Array.from({ length: 2 }, () => replace('a.txt', 'a', 'b'.repeat(900_000))),
      replace('a.txt', 'a', 'bb'),
      replace('lines.txt', 'a\n', 'b\n'),
      replace('blank.txt', '\n', ''),
      replace('indent.txt', '  one\n  two', `one\n${'x\n'.repeat(100_000)}two`),
      { tool: 'apply_diff', args: { path: 'blank.txt', diff: `@@\n a${blank}-b\n+c\n` } },
      { tool: 'apply_diff', args: { path: 'blank.txt', diff: `@@\n a${blank.slice(0, 1000)}-b\n+c\n`.repeat(90) } },
    ]
    const handle = await promptModel(run, 'amplified-edits', () => calls)
    const violations: string[] = []
    if ((await waitForRest(handle, 1)) !== 'rests')
      violations.push('an edit that is too large was offered for approval')
    violations.push(...(await checkCalls(handle, calls.length, 'error', '')))
    return { did: `made ${calls.length} edits of files of ${chars} characters`, violations }
  },
}

/** Writes lists of tasks that are far too long. Every snapshot would show them. */
const manyTasks: HostileCase = {
  name: 'many-tasks',
  from: 'model',
  async run(run) {
    const tasks = (count: number) => Array.from({ length: count }, () => ({ description: 'x' }))
    const counts = [100_000, 6000, limits.todosMax + 1]
    const handle = await promptModel(run, 'many-tasks', () => [
      ...counts.map((count) => ({ tool: 'todo_write', args: { tasks: tasks(count) } })),
      { tool: 'todo_write', args: { tasks: [{ description: 'x'.repeat(900_000) }] } },
    ])
    await waitForRest(handle, 1)
    const violations = [...(await checkCalls(handle, counts.length + 1, 'error', ''))]
    const snapshot = await handle.snapshot()
    const shown = snapshot.ok ? snapshot.value.view.todos.length : -1
    if (shown !== 0) violations.push(`${shown} tasks are shown`)
    return { did: `wrote lists of up to ${counts[0]} tasks`, violations }
  },
}

export const toolCases: readonly HostileCase[] = [searches, hostileDiffs, amplifiedEdits, manyTasks]
