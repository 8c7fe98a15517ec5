import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const jsonOf = (text: string) => JSON.parse(text)

describe('branches', () => {
  const textsOf = async (...args: readonly string[]) =>
    jsonOf((await cli.run(['show', '@latest', '--json', ...args])).stdout)
      .messages.filter(({ kind }: { kind: string }) => kind === 'user')
      .map(({ text }: { text: string }) => text)

  const ask = async (first: string, ...others: readonly string[]) => {
    await cli.run(['run', first])
    for (const prompt of others) await cli.run(['run', '-s', '@latest', prompt])
  }

  it('are created, listed, shown, switched to and rewound, each by a run of its own', async () => {
    await ask('count to 1', 'count to 2')
    expect(await cli.run(['branches', '@latest'])).toMatchObject({ code: 0, stdout: '' })
    const branched = await cli.run(['branch', '@latest', '0'])
    expect(branched).toMatchObject({ code: 0, stdout: 'branch-1\n' })
    expect(branched.stderr).toBe(
      'Saved the messages so far as branch-1. The session continues from the end of turn 0.\n',
    )
    await cli.run(['run', '-s', '@latest', 'count to 3'])
    expect(await textsOf()).toEqual(['count to 1', 'count to 3'])
    expect(await textsOf('--branch', 'branch-1')).toEqual(['count to 1', 'count to 2'])
    const { branches } = jsonOf((await cli.run(['branches', '@latest', '--json'])).stdout)
    expect(branches).toMatchObject([{ name: 'branch-1', turns: 2 }])
    expect((await cli.run(['switch', '@latest', '0'])).stdout).toBe('branch-1\n')
    expect(await textsOf()).toEqual(['count to 1', 'count to 2'])
    expect((await cli.run(['branches', '@latest'])).stdout).toMatch(/^INDEX .+\n0 +branch-2 /)
    expect(jsonOf((await cli.run(['rewind', '@latest', '0', '--json'])).stdout).result).toEqual({ branch: 'branch-1' })
    expect(await textsOf()).toEqual(['count to 1'])
  })

  it('are rewound with the files that tools changed, after a preview, and the files come back', async () => {
    await cli.run(['run', '--yes', 'write note.txt: one'])
    await cli.run(['run', '--yes', '-s', '@latest', 'edit note.txt: one => two\nwrite new.txt: new'])
    const note = () => readFileSync(join(cli.workdir, 'note.txt'), 'utf8')
    const preview = await cli.run(['rewind', '@latest', '0', '--files', '--preview'])
    expect(preview.stdout).toMatch(/^restore: note.txt\n--- a\/note.txt\n(?:.*\n)*delete: new.txt\n/)
    expect([preview.stderr, note()]).toEqual(['Nothing was changed yet.\n', 'two'])
    const coloured = { environment: { FORCE_COLOR: '1' } }
    const inColour = await cli.run(['rewind', '@latest', '0', '--files', '--preview'], coloured)
    expect(inColour.stdout).toContain('\u001b[31m-two\u001b[39m\n')
    expect((await cli.run(['diff', '@latest', 'note.txt'])).stdout).toMatch(
      /^diff --git .*\nnew file mode 100644\n--- .*\n\+\+\+ .*\n@@ .*\n\+two\n/,
    )
    expect((await cli.run(['diff', '@latest'], coloured)).stdout).toContain('\u001b[32m+two\u001b[39m\n')
    expect(await cli.run(['diff', '@latest', 'not.txt'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("This session did not change not.txt. Did you mean 'note.txt'?"),
    })
    expect((await cli.run(['rewind', '@latest', '--undo'])).stderr).toContain('there is nothing to undo')
    writeFileSync(join(cli.workdir, 'new.txt'), 'theirs')
    const rewound = await cli.run(['rewind', '@latest', '0', '--files'])
    expect(rewound).toMatchObject({ code: 0, stdout: 'branch-1\n' })
    expect(rewound.stderr).toContain('restored: note.txt\nleft as it is: new.txt (changed by others since)\n')
    expect(note()).toBe('one')
    const undo = await cli.run(['rewind', '@latest', '--undo', '--preview'])
    expect(undo.stdout).toMatch(/^restore: note.txt\n(?:.*\n)*-one\n(?:.*\n)*\+two\n/)
    expect([undo.stderr, note()]).toEqual(['Nothing was changed yet.\n', 'one'])
    expect((await cli.run(['rewind', '@latest', '--undo'])).stderr).toBe('restored: note.txt\n')
    expect(note()).toBe('two')
    expect(await cli.run(['rewind', '@latest'])).toMatchObject({ code: 2 })
    expect((await cli.run(['show', '@latest'])).stdout).toContain(
      'Files were put back: 1 restored, 1 left as they are.',
    )
    const wholeSession = await cli.run(['rewind', '@latest', '--files', '--preview'])
    expect(wholeSession.stdout).toContain('delete: note.txt\n')
  })

  it('give a diff that git applies: moved, created, deleted and empty files, and files with CRLF', async () => {
    const [before, after] = [join(cli.workdir, 'before'), join(cli.workdir, 'after')]
    mkdirSync(before)
    const files = { 'a.txt': 'one\ntwo\n', 'b.txt': 'text\n', 'crlf.txt': 'one\r\ntwo\r\n', 'gone.txt': 'gone\n' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(before, name), text)
    cpSync(before, after, { recursive: true })
    const moves = ['move a.txt => z.txt', 'move b.txt => y.txt', 'delete gone.txt', 'write new.txt: new']
    await cli.run(['run', '--yes', moves.join('\n')], { cwd: after })
    const edits = ['edit z.txt: two => 2', 'edit crlf.txt: two => 2', 'call write_file {"path":"e.txt","content":""}']
    await cli.run(['run', '--yes', '-s', '@latest', edits.join('\n')], { cwd: after })
    const { stdout } = await cli.run(['diff', '@latest'], { cwd: after })
    const applied = spawnSync('git', ['apply'], { cwd: before, input: stdout, encoding: 'utf8' })
    expect(applied).toMatchObject({ status: 0, stderr: '' })
    const all = (folder: string) =>
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
    expect(all(before)).toEqual(all(after))
    expect(all(after)).toContainEqual(['crlf.txt', 'one\r\n2\r\n'])
    expect(all(after)).toHaveLength(5)
  })

  it('show a moved file as one change, and move it back', async () => {
    writeFileSync(join(cli.workdir, 'from.txt'), 'text\n')
    await cli.run(['run', '--yes', 'move from.txt => to.txt'])
    const read = (name: string) => readFileSync(join(cli.workdir, name), 'utf8')
    expect((await cli.run(['files', '@latest'])).stdout).toMatch(/^CHANGE .*\nrenamed .* from\.txt → to\.txt\n$/)
    expect((await cli.run(['diff', '@latest', 'from.txt'])).stdout).toBe(
      'diff --git a/from.txt b/to.txt\nrename from from.txt\nrename to to.txt\n',
    )
    const preview = await cli.run(['rewind', '@latest', '--files', '--preview'])
    expect(preview.stdout).toBe('move back: to.txt → from.txt\nrename from to.txt\nrename to from.txt\n')
    const restored = await cli.run(['rewind', '@latest', '--files'])
    expect([restored.stderr, read('from.txt')]).toEqual(['moved back: to.txt → from.txt\n', 'text\n'])
    expect(() => read('to.txt')).toThrow('ENOENT')
    expect((await cli.run(['rewind', '@latest', '--undo'])).stderr).toBe('moved back: from.txt → to.txt\n')
    expect(read('to.txt')).toBe('text\n')
  })

  it('are shown with the files that a session changed, and with the lines that tools may change', async () => {
    await cli.run(['run', '--yes', 'write note.txt: one'])
    expect((await cli.run(['files', '@latest'])).stdout).toMatch(/^CHANGE .*\ncreated .* note\.txt\n$/)
    expect((await cli.run(['boundary', '@latest', 'note.txt', '1'])).stdout).toMatch(/\nline 1 +note\.txt\n$/)
    expect((await cli.run(['tools', '@latest'])).stdout).toContain('In note.txt, tools may change only line 1.')
    expect((await cli.run(['boundary', '@latest', 'note.txt', '0-2'])).stderr).toContain('counted from 1')
    expect(jsonOf((await cli.run(['boundary', '@latest', '--clear', '--json'])).stdout)).toEqual({ boundaries: [] })
    expect((await cli.run(['boundary', '@latest'])).stderr).toBe('This session has no edit boundaries.\n')
  })

  it('say which commands in the background end with a run, and where a command would run', async () => {
    const ran = await cli.run(['run', '--yes', 'run in background sleep 1000'])
    expect(ran.stderr).toContain(`in ${cli.workdir}, in the background\n`)
    expect(ran.stderr).toContain(
      'Ending what still runs in the background. With holdfast serve it would go on.\n  sleep 1000\n',
    )
    expect((await cli.run(['shells', '@latest', '--stop', 'none'])).stderr).toContain('No command')
  })

  it('say that changes by commands are not known without git', async () => {
    await cli.run(['run', 'count to 1'])
    expect((await cli.run(['files', '@latest'])).stderr).toBe('The session changed no file.\n')
    await cli.run(['run', '--yes', '-s', '@latest', 'run echo new > n.txt'])
    for (const args of [
      ['files', '@latest'],
      ['diff', '@latest'],
      ['rewind', '@latest', '--files'],
    ])
      expect((await cli.run(args)).stderr).toContain(
        'No changed file is on record. What shell commands change is recorded only in a git repository',
      )
  })

  it('print a refusal of plan mode once', async () => {
    const planned = await cli.run(['run', '--plan', 'write other.txt: x'])
    expect(planned.stderr.match(/plan mode/g)).toHaveLength(1)
  })

  it('gives the range of turns if a turn is out of range', async () => {
    await ask('count to 1', 'count to 2')
    const { stderr } = await cli.run(['branch', '@latest', '7'])
    expect(stderr).toBe('This session has no finished turn 7. Its turns are 0 to 1.\n')
  })

  it('are unchanged after a command that fails', async () => {
    await cli.run(['run', 'count to 1'])
    const before = (await cli.run(['show', '@latest', '--json'])).stdout
    for (const [args, code] of [
      [['branch', '@latest', '9'], 'turn_not_found'],
      [['rewind', '@latest', '9'], 'turn_not_found'],
      [['switch', '@latest', 'branch-9'], 'branch_not_found'],
      [['switch', '@latest', '9'], 'branch_not_found'],
      [['fork', '@latest', '--at', '9'], 'turn_not_found'],
      [['show', '@latest', '--branch', 'branch-9'], 'branch_not_found'],
      [['tell', '@latest', 'togglePin', 'message=999'], 'message_not_found'],
      [['tell', '@latest', 'compact'], 'nothing_to_compact'],
      [['tell', '@latest', 'undoCompaction'], 'nothing_to_compact'],
    ] as const) {
      const refused = await cli.run([...args, '--json'])
      expect({ args, code: refused.code }).toEqual({ args, code: 1 })
      expect(jsonOf(refused.stdout)).toMatchObject({ error: { code } })
    }
    expect((await cli.run(['show', '@latest', '--json'])).stdout).toBe(before)
  })

  it('are shared with a fork, which continues separately', async () => {
    await ask('count to 1', 'count to 2')
    const [original] = jsonOf((await cli.run(['ls', '--json'])).stdout).sessions
    const forked = await cli.run(['fork', '@latest', '--at', '0'])
    expect(forked.stdout).toMatch(/^[a-z]+-[a-z]+-\d+\n$/)
    expect(forked.stderr).toContain(`shares the history of ${original.handle}.`)
    const fork = forked.stdout.trim()
    expect((await cli.run(['run', '-s', fork, 'count to 5'])).stdout).toBe('1, 2, 3, 4, 5.\n')
    const exportOf = async (name: string) => (await cli.run(['export', name])).stdout
    expect(await exportOf(fork)).toContain('count to 1')
    expect(await exportOf(fork)).not.toContain('count to 2')
    expect(await exportOf(original.handle)).not.toContain('count to 5')
  })

  it('can be compacted for the model, and restored', async () => {
    await ask('count to 1', 'count to 2', 'count to 3', 'count to 4')
    const compacted = await cli.run(['tell', '@latest', 'compact'])
    expect(compacted.code).toBe(0)
    expect(compacted.stdout).toContain('summary: This summary is by the demo')
    expect(compacted.stdout).toContain('The first request was: count to 1')
    expect(await textsOf()).toHaveLength(4)
    expect((await cli.run(['run', '-s', '@latest', 'count to 2'])).stdout).toBe('1, 2.\n')
    expect(jsonOf((await cli.run(['tell', '@latest', 'undoCompaction', '--json'])).stdout).result).toEqual({
      tokens: expect.any(Number),
    })
    const summed = await cli.run(['tell', '@latest', 'summarize', '--json'])
    const { path, text } = jsonOf(summed.stdout).result
    expect(text).toContain('## Open questions')
    expect(readFileSync(join(cli.workdir, path), 'utf8')).toContain(text)
  })
})
