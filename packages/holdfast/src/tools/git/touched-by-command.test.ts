import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { hashContent } from '../files/io/file-content.ts'

let base = ''
let workdir = ''
const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd: join(base, 'tree') })
const write = (path: string, content: string) => writeFileSync(join(workdir, path), content)
const text = (path: string) => readFileSync(join(workdir, path), 'utf8')

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-touched-'))
  workdir = join(base, 'tree', 'sub')
  mkdirSync(workdir, { recursive: true })
  git('init', '-q', '-b', 'main', '--template=')
  write('kept.txt', 'kept\n')
  write('tool.sh', 'one\n')
  chmodSync(join(workdir, 'tool.sh'), 0o755)
  write('gone.txt', 'gone\n')
  write('.gitignore', 'ignored\n')
  git('add', '.')
  git('commit', '-qm', 'First')
  write('dirty.txt', 'dirty before\n')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const open = async (PATH = process.env['PATH']) => {
  const environment = { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0', PATH }
  const holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  return { holdfast, session: await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' }) }
}

const byPath = (one: { readonly path: string }, other: { readonly path: string }) => (one.path < other.path ? -1 : 1)

const commands =
  'run echo two >> tool.sh; rm gone.txt; echo new > "a new.txt"; echo after >> dirty.txt; echo x > ignored; echo more >> kept.txt; git -c user.name=a -c user.email=b commit -qam Second'

describe('a command in a git work tree', () => {
  it('touches the files that git sees changed, also those it commits, and they can be restored and given back', async () => {
    const { holdfast, session } = await open()
    await session.prompt(commands).text()
    const touched = (await session.touchedFiles()).map(({ path, action }) => [path, action]).sort()
    expect(touched).toEqual([
      ['a new.txt', 'created'],
      ['dirty.txt', 'modified'],
      ['gone.txt', 'deleted'],
      ['kept.txt', 'modified'],
      ['tool.sh', 'modified'],
    ])
    const { restored, refused } = await session.restoreFiles({ message: 1 })
    expect([restored.length, refused]).toEqual([5, []])
    expect(['kept.txt', 'tool.sh', 'gone.txt', 'dirty.txt'].map(text)).toEqual([
      ...['kept\n', 'one\n', 'gone\n', 'dirty before\n'],
    ])
    expect([existsSync(join(workdir, 'a new.txt')), text('ignored')]).toEqual([false, 'x\n'])
    await session.restoreFiles({ undo: true })
    expect([text('dirty.txt'), text('a new.txt')]).toEqual(['dirty before\nafter\n', 'new\n'])
    await holdfast.close()
  })

  it('in the background touches the files that git sees changed at its end, which can be shown and restored', async () => {
    const { holdfast, session } = await open()
    await session.prompt(`${commands.replace('run', 'run in background')}; sleep 1000`).text()
    await expect.poll(() => git('log', '--format=%s', '-1').toString().trim(), { timeout: 15_000 }).toBe('Second')
    expect(await session.touchedFiles()).toEqual([])
    const [shell] = await session.backgroundShells()
    await session.stopBackgroundShell(shell?.id ?? '')
    const touched = (await session.touchedFiles()).map(({ path, action, during }) => [path, action, during]).sort()
    expect(touched).toEqual([
      ['a new.txt', 'created', true],
      ['dirty.txt', 'modified', true],
      ['gone.txt', 'deleted', true],
      ['kept.txt', 'modified', true],
      ['tool.sh', 'modified', true],
    ])
    const [message] = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
    const call = message?.id
    const diffs = (await session.diffChanges({ call })).map(({ path }) => path)
    expect(diffs.sort()).toEqual(['a new.txt', 'dirty.txt', 'gone.txt', 'kept.txt', 'tool.sh'])
    write('kept.txt', 'mine\n')
    const paths = touched.map(([path]) => `${path}`)
    const { restored, refused } = await session.restoreFiles({ call, paths })
    expect([restored.length, refused.map(({ path }) => path)]).toEqual([4, ['kept.txt']])
    expect(['kept.txt', 'tool.sh', 'gone.txt', 'dirty.txt'].map(text)).toEqual([
      ...['mine\n', 'one\n', 'gone\n', 'dirty before\n'],
    ])
    await holdfast.close()
  })

  it('in the background leaves files as they are that may be the work of others, unless they are named', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run in background until [ -e ignored ]; do sleep 0.05; done; echo two >> tool.sh').text()
    write('kept.txt', 'written by hand\n')
    write('mine.txt', 'also by hand\n')
    write('ignored', '')
    const paths = async () => (await session.touchedFiles()).map(({ path }) => path).sort()
    await expect.poll(paths, { timeout: 15_000 }).toEqual(['kept.txt', 'mine.txt', 'tool.sh'])
    const why = 'changed while a background command ran; name it to put it back'
    const all = ['kept.txt', 'mine.txt', 'tool.sh'].map((path) => ({ path, why }))
    const preview = await session.previewRestore({ message: 1 })
    expect([preview.files, preview.refused.toSorted(byPath)]).toEqual([[], all])
    const { restored, refused } = await session.restoreFiles({ message: 1 })
    expect([restored, refused.toSorted(byPath)]).toEqual([[], all])
    expect(['kept.txt', 'mine.txt'].map(text)).toEqual(['written by hand\n', 'also by hand\n'])
    await session.restoreFiles({ message: 1, paths: ['tool.sh'] })
    expect(['kept.txt', 'tool.sh'].map(text)).toEqual(['written by hand\n', 'one\n'])
    await session.restoreFiles({ undo: true })
    expect(text('tool.sh')).toBe('one\ntwo\n')
    await holdfast.close()
  })

  it('in the background leaves to other calls what they changed while it ran', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run in background until [ -e ignored ]; do sleep 0.05; done').text()
    await session.prompt('read kept.txt').text()
    await session.prompt('edit kept.txt: kept => edited').text()
    await session.prompt('move gone.txt => moved.txt').text()
    await session.prompt('run echo two >> tool.sh').text()
    write('ignored', '')
    const [shell] = await session.backgroundShells()
    const hasEnded = async () => (await session.backgroundShells()).every(({ ended }) => ended)
    await expect.poll(hasEnded, { timeout: 15_000 }).toBe(true)
    await session.prompt(`output ${shell?.id}`).text() // it waits until everything is recorded
    const touched = (await session.touchedFiles()).map(({ path, action, during }) => [path, action, during])
    expect(touched.sort()).toEqual([
      ['kept.txt', 'modified', undefined],
      ['moved.txt', 'renamed', undefined],
      ['tool.sh', 'modified', undefined],
    ])
    const { restored, refused } = await session.restoreFiles({ message: 1 })
    expect([restored.length, refused]).toEqual([4, []])
    expect(['kept.txt', 'tool.sh', 'gone.txt'].map(text)).toEqual(['kept\n', 'one\n', 'gone\n'])
    await holdfast.close()
  })

  it('in the background is listed with a file that an edit changed before it, which is put back whole where it is named', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run in background until [ -e ignored ]; do sleep 0.05; done; echo more >> tool.sh').text()
    await session.prompt('read tool.sh').text()
    await session.prompt('edit tool.sh: one => 1').text()
    write('ignored', '')
    const last = async () => (await session.touchedFiles()).map(({ path, action, during }) => [path, action, during])
    await expect.poll(last, { timeout: 15_000 }).toEqual([['tool.sh', 'modified', true]])
    expect(text('tool.sh')).toBe('1\nmore\n')
    expect((await session.restoreFiles({ message: 1 })).refused).toMatchObject([{ path: 'tool.sh' }])
    expect(text('tool.sh')).toBe('1\nmore\n')
    const [shell] = (await session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call.id] : []))
    const why = 'another call changed it while this one ran in the background; go back to a turn or message'
    const alone = await session.restoreFiles({ call: shell, paths: ['tool.sh'] })
    expect([alone.restored, alone.refused]).toEqual([[], [{ path: 'tool.sh', why }]])
    write('tool.sh', 'mine\n')
    expect((await session.restoreFiles({ message: 1, paths: ['tool.sh'] })).restored).toEqual([])
    expect(text('tool.sh')).toBe('mine\n')
    write('tool.sh', '1\nmore\n')
    expect((await session.diffChanges())[0]?.diff).toContain('-one\n+1\n+more\n')
    expect((await session.restoreFiles({ message: 1, paths: ['tool.sh'] })).refused).toEqual([])
    expect(text('tool.sh')).toBe('one\n')
    await holdfast.close()
  })

  it('in the background that changes a file while another command runs does so for the session, at any point', async () => {
    const { holdfast, session } = await open()
    const until = (n: number) =>
      `until [ -e ignored/${n} ]; do sleep 0.05; done; echo ${n} >> tool.sh; touch ignored/done-${n}`
    const sees = (n: number) =>
      expect.poll(() => existsSync(join(workdir, `ignored/done-${n}`)), { timeout: 15_000 }).toBe(true)
    mkdirSync(join(workdir, 'ignored'))
    await session.prompt(`run in background ${until(1)}; ${until(2)}; ${until(3)}`).text()
    write('ignored/1', '')
    await sees(1)
    await session
      .prompt('run touch ignored/2; until [ -e ignored/done-2 ]; do sleep 0.05; done; echo x > new.txt')
      .text()
    write('ignored/3', '')
    const last = async () => (await session.touchedFiles()).map(({ path, during }) => [path, during]).sort()
    await expect.poll(last, { timeout: 15_000 }).toEqual([
      ['new.txt', undefined],
      ['tool.sh', true],
    ])
    expect(text('tool.sh')).toBe('one\n1\n2\n3\n')
    // At the end of the first turn the command had not changed it again.
    const paths = ['tool.sh']
    expect(await session.restoreFiles({ turn: 0, paths })).toMatchObject({
      restored: [{ path: 'tool.sh' }],
      refused: [],
    })
    expect(text('tool.sh')).toBe('one\n1\n')
    await session.restoreFiles({ undo: true })
    expect(text('tool.sh')).toBe('one\n1\n2\n3\n')
    expect(await session.restoreFiles({ message: 1, paths })).toMatchObject({ refused: [] })
    expect(text('tool.sh')).toBe('one\n')
    await holdfast.close()
  })

  it('in the background is listed with files that other calls changed after it, which are put back whole where they are named', async () => {
    const { holdfast, session } = await open()
    const command = 'echo 2 >> tool.sh; echo 2 > gone.txt; echo 2 > new.txt; until [ -e ignored ]; do sleep 0.05; done'
    await session.prompt(`run in background ${command}`).text()
    await expect.poll(() => existsSync(join(workdir, 'new.txt')), { timeout: 15_000 }).toBe(true)
    await session.prompt('read tool.sh').text()
    await session.prompt('edit tool.sh: 2 => edited').text()
    await session.prompt('run echo 3 >> new.txt; rm gone.txt; echo 3 >> kept.txt').text()
    write('ignored', '')
    const during = async () => (await session.touchedFiles()).filter((one) => one.during).map(({ path }) => path)
    const both = ['gone.txt', 'new.txt', 'tool.sh']
    await expect.poll(async () => (await during()).sort(), { timeout: 15_000 }).toEqual(both)
    const { restored, refused } = await session.restoreFiles({ message: 1 })
    expect([restored.map(({ path }) => path), refused.map(({ path }) => path).sort()]).toEqual([['kept.txt'], both])
    expect(['tool.sh', 'new.txt', 'kept.txt'].map(text)).toEqual(['one\nedited\n', '2\n3\n', 'kept\n'])
    expect((await session.restoreFiles({ message: 1, paths: both })).refused).toEqual([])
    expect(['tool.sh', 'gone.txt'].map(text)).toEqual(['one\n', 'gone\n'])
    expect(existsSync(join(workdir, 'new.txt'))).toBe(false)
    await holdfast.close()
  })

  it.each([
    ['checks out', 'run git checkout -q tool.sh', 'one\n'],
    ['removes', 'run rm new.txt', null],
    ['edits', 'edit tool.sh: one\ntwo => one', 'one\n'],
  ])(
    'in the background is listed with a file that another call %s, so that it is as it was',
    async (_, undo, content) => {
      const path = content === null ? 'new.txt' : 'tool.sh'
      const { holdfast, session } = await open()
      const command = 'echo two >> tool.sh; echo two > new.txt; until [ -e ignored ]; do sleep 0.05; done'
      await session.prompt(`run in background ${command}`).text()
      await expect.poll(() => existsSync(join(workdir, 'new.txt')), { timeout: 15_000 }).toBe(true)
      if (undo.startsWith('edit')) {
        await session.prompt('read tool.sh').text()
        const args = { path, old_text: 'one\ntwo\n', new_text: 'one\n' }
        await session.prompt(`call edit_file ${JSON.stringify(args)}`).text()
      } else await session.prompt(undo).text()
      write('ignored', '')
      const during = async () => (await session.touchedFiles()).filter((one) => one.during).map((one) => one.path)
      await expect.poll(async () => (await during()).sort(), { timeout: 15_000 }).toEqual(['new.txt', 'tool.sh'])
      // It does not become what the command had left there.
      expect((await session.restoreFiles({ message: 1 })).restored.map((one) => one.path)).not.toContain(path)
      expect(content === null ? existsSync(join(workdir, path)) : text(path)).toBe(content ?? false)
      await holdfast.close()
    },
  )

  it('in the background is not listed with files of other repositories and ignored ones that other calls wrote', async () => {
    mkdirSync(join(workdir, 'inner'))
    execFileSync('git', ['init', '-q'], { cwd: join(workdir, 'inner') })
    write('inner/a.txt', 'one\n')
    const { holdfast, session } = await open()
    await session.prompt('run in background until [ -e inner/end ]; do sleep 0.05; done').text()
    await session.prompt('read inner/a.txt').text()
    await session.prompt('edit inner/a.txt: one => two').text()
    await session.prompt('write ignored: one').text()
    write('inner/end', '')
    const [shell] = await session.backgroundShells()
    const hasEnded = async () => (await session.backgroundShells()).every(({ ended }) => ended)
    await expect.poll(hasEnded, { timeout: 15_000 }).toBe(true)
    await session.prompt(`output ${shell?.id}`).text() // it waits until everything is recorded
    expect((await session.touchedFiles()).filter((one) => one.during)).toEqual([])
    await holdfast.close()
  })

  it('that goes on in the background at its timeout touches files until its end', async () => {
    const { holdfast, session } = await open()
    const command = 'echo before >> kept.txt; until [ -e ignored ]; do sleep 0.05; done; echo after >> kept.txt'
    await session.prompt(`call shell ${JSON.stringify({ command, timeout: 1 })}`).text()
    write('ignored', '')
    const last = async () => (await session.touchedFiles()).map(({ path, action, during }) => [path, action, during])
    await expect.poll(last, { timeout: 15_000 }).toEqual([['kept.txt', 'modified', true]])
    await session.restoreFiles({ message: 1, paths: ['kept.txt'] })
    expect(text('kept.txt')).toBe('kept\n')
    await holdfast.close()
  })

  it('that ends with its session touches files too', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run in background echo two >> tool.sh; sleep 1000').text()
    await expect.poll(() => text('tool.sh'), { timeout: 15_000 }).toBe('one\ntwo\n')
    await holdfast.stopSession(session.id)
    const again = await holdfast.getSession(session.id)
    expect(await again.touchedFiles()).toMatchObject([{ path: 'tool.sh', action: 'modified', during: true }])
    await holdfast.close()
  })

  it('says what it left in each file, so that a later call of the round does not take it for foreign', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run echo two >> tool.sh; rm gone.txt').text()
    for await (const item of session.subscribe({ after: 0 })) {
      if (item.type !== 'record' || item.record.event.type !== 'call.settled') continue
      expect(item.record.event.files?.map(({ path, contentHash }) => [path, contentHash]).sort()).toEqual([
        ['gone.txt', hashContent('gone.txt', null)],
        ['tool.sh', hashContent('tool.sh', Buffer.from('one\ntwo\n'))],
      ])
      break
    }
    await holdfast.close()
  })

  it.each([
    ['fails', 'run echo two >> tool.sh; false', null],
    ['is aborted', 'run echo two >> tool.sh; touch started; exec sleep 100', 'started'],
  ])('touches files also if it %s, and they can be restored', async (_, command, mark) => {
    const { holdfast, session } = await open()
    const turn = session.prompt(command)
    if (mark !== null) {
      await vi.waitUntil(() => existsSync(join(workdir, mark)), { timeout: 30_000 }) // a second is not enough on a busy machine
      await session.abort()
      for await (const item of session.subscribe({ after: 0 })) {
        if (item.type === 'record' && item.record.event.type === 'files.touched') break
      }
    }
    await turn.result()
    expect((await session.touchedFiles()).map(({ path }) => path)).toContain('tool.sh')
    const [call] = (await session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call.id] : []))
    expect((await session.diffChanges({ call })).map(({ path }) => path)).toContain('tool.sh')
    expect((await session.diffChanges({ turn: 0 })).map(({ path }) => path)).toContain('tool.sh')
    await session.prompt('write other.txt: x').result()
    expect((await session.diffChanges({ turn: 1 })).map(({ path }) => path)).toEqual(['other.txt'])
    expect((await session.previewRestore({ turn: 0 })).files.map(({ path }) => path)).toEqual(['other.txt'])
    expect((await session.restoreFiles({ message: 1 })).refused).toEqual([])
    expect([text('tool.sh'), existsSync(join(workdir, 'other.txt'))]).toEqual(['one\n', false])
    await holdfast.close()
  })

  it('starts git twice if it changes nothing that was committed, and once more to read what was', async () => {
    const log = join(base, 'started')
    mkdirSync(join(base, 'bin'))
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
    writeFileSync(join(base, 'bin', 'git'), `#!/bin/sh\necho x >> '${log}'\nexec ${real} "$@"\n`, { mode: 0o755 })
    const { holdfast, session } = await open(`${join(base, 'bin')}:${process.env['PATH']}`)
    const started = async (command: string) => {
      writeFileSync(log, '')
      await session.prompt(command).text()
      return readFileSync(log, 'utf8').length / 2
    }
    expect(await started('run true')).toBe(2)
    expect(await started('run echo more >> dirty.txt; echo x > new.txt')).toBe(2)
    expect(await started('run for one in kept.txt tool.sh; do echo two >> $one; done; rm gone.txt')).toBe(3)
    expect((await session.restoreFiles({ message: 1 })).restored).toHaveLength(5)
    expect(['kept.txt', 'tool.sh', 'gone.txt'].map(text)).toEqual(['kept\n', 'one\n', 'gone\n'])
    await holdfast.close()
  })

  it('records no file under a name that is not UTF-8, which another file may seem to have', async () => {
    const odd = Buffer.concat([Buffer.from(`${workdir}/bad`), Buffer.from([0xff])])
    writeFileSync(odd, 'odd\n')
    write('bad\ufffd', 'another file\n')
    git('add', '.')
    git('commit', '-qm', 'Names')
    const { holdfast, session } = await open()
    await session
      .prompt('run for f in bad*; do [ "$(cat "$f")" = odd ] && echo more >> "$f"; done; echo new > new.txt')
      .text()
    expect(readFileSync(odd, 'utf8')).toBe('odd\nmore\n')
    expect((await session.touchedFiles()).map(({ path }) => path)).toEqual(['new.txt'])
    const notices = async () =>
      (await session.messages()).flatMap((one) =>
        one.kind === 'tool_call' ? [JSON.stringify(one).split('names that are not UTF-8').length - 1] : [],
      )
    expect(await notices()).toEqual([1])
    await session.prompt('run echo x > new.txt').text()
    await session.prompt('run for f in bad*; do [ -n "$(grep more "$f")" ] && echo again >> "$f"; done').text()
    expect(readFileSync(odd, 'utf8')).toBe('odd\nmore\nagain\n')
    expect(await notices()).toEqual([1, 0, 1])
    await holdfast.close()
  })

  it('moves files, also without git, and they can be moved back', async () => {
    const { holdfast, session } = await open()
    await session.prompt('run mv dirty.txt clean.txt; git mv kept.txt "kept elsewhere.txt"').text()
    const changes = await Array.fromAsync(session.fileChanges())
    expect(changes.map(({ change, from, path }) => [change, from, path]).sort()).toEqual([
      ['moved', 'dirty.txt', 'clean.txt'],
      ['moved', 'kept.txt', 'kept elsewhere.txt'],
    ])
    expect((await session.restoreFiles({ message: 1 })).refused).toEqual([])
    expect([text('dirty.txt'), text('kept.txt')]).toEqual(['dirty before\n', 'kept\n'])
    expect([existsSync(join(workdir, 'clean.txt')), existsSync(join(workdir, 'kept elsewhere.txt'))]).toEqual([
      ...[false, false],
    ])
    await holdfast.close()
  })

  it('that changes nothing has touched nothing, though some files are too large to be read', async () => {
    for (const name of ['large-1', 'large-2']) write(name, 'x'.repeat(20 * 1024 * 1024))
    mkdirSync(join(workdir, '.holdfast'))
    write('.holdfast/MEMORY.md', 'notes\n')
    const { holdfast, session } = await open()
    await session.prompt('run true').text()
    expect(await session.touchedFiles()).toEqual([])
    await session.prompt('run echo more >> large-2').text()
    expect((await session.touchedFiles()).map(({ path }) => path)).toEqual(['large-2'])
    await holdfast.close()
  })

  it('that makes an ignored file visible has not created it', async () => {
    write('ignored', 'precious\n')
    const { holdfast, session } = await open()
    await session.prompt('run : > .gitignore').text()
    const changes = await Array.fromAsync(session.fileChanges())
    expect(changes.find(({ path }) => path === 'ignored')?.before).toMatchObject({ type: 'not_kept' })
    await session.restoreFiles({ message: 1 })
    expect([text('ignored'), text('.gitignore')]).toEqual(['precious\n', 'ignored\n'])
    await holdfast.close()
  })

  it('never runs a program that the repository names', async () => {
    git('config', 'filter.evil.clean', `touch ${join(base, 'ran')}`)
    git('config', 'core.fsmonitor', `touch ${join(base, 'ran')}`)
    write('.gitattributes', '* filter=evil\n')
    const { holdfast, session } = await open()
    await session.prompt('run echo two >> tool.sh').text()
    expect([existsSync(join(base, 'ran')), await session.touchedFiles()]).toEqual([false, []])
    git('config', '--unset', 'filter.evil.clean')
    await session.prompt(`run echo x >> tool.sh; git config filter.evil.clean 'touch ${join(base, 'ran')}'`).text()
    expect([existsSync(join(base, 'ran')), await session.touchedFiles()]).toEqual([false, []])
    await holdfast.close()
  })
})
