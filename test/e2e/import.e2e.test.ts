import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { createLongConversation } from '../../packages/holdfast/src/transfer/import/testing/long-conversation.ts'

const source = (name: string): Buffer => readFileSync(new URL(`../golden/import/${name}.source`, import.meta.url))

describe('holdfast import and export', () => {
  it('imports a folder, prints what it changed, and exports it again', async () => {
    using cli = createCli()
    const folder = join(cli.workdir, 'old', 'deep')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'a.jsonl'), source('ggcode-1.3.33-corrupt'))
    writeFileSync(join(folder, 'b.json'), source('minga-branches'))
    writeFileSync(join(folder, 'c.jsonl'), source('picoclaw-truncated'))
    writeFileSync(join(folder, 'c.meta.json'), source('picoclaw-truncated.meta'))
    writeFileSync(join(folder, 'notes.txt'), 'no session')

    const imported = await cli.run(['import', 'old'])
    expect(imported.code, imported.stderr).toBe(0)
    expect(imported.stdout.trim().split('\n').length).toBe(3)
    expect(imported.stderr).toMatch(/^3 imported\.$/m) // `c.meta.json` is part of the session of `c.jsonl`
    expect(imported.stderr).not.toContain('Skipped')
    expect(imported.stderr).toMatch(/a\.jsonl:\d+: A line with NUL bytes in it was left out\./)

    const again = await cli.run(['import', 'old', '--json', '--quiet'])
    const { files } = JSON.parse(again.stdout)
    const sessions = files.filter(({ session }: { session: string | null }) => session !== null)
    expect(sessions.map(({ status }: { status: string }) => status)).toEqual(['same', 'same', 'same'])
    const [{ session }] = sessions

    for (const format of ['md', 'html', 'json', 'jsonl']) {
      const exported = await cli.run(['export', session, '-o', `out.${format}`])
      expect(exported.code, exported.stderr).toBe(0)
    }
    expect(readFileSync(join(cli.workdir, 'out.html'), 'utf8')).toMatch(/^<!doctype html>/)
    const text = readFileSync(join(cli.workdir, 'out.jsonl'), 'utf8')

    const elsewhere = { environment: { HOLDFAST_HOME: join(cli.workdir, 'other-home') } }
    const taken = await cli.run(['import', 'out.jsonl'], elsewhere)
    expect(taken.code, taken.stderr).toBe(0)
    const back = await cli.run(['export', session, '--format', 'jsonl'], elsewhere)
    expect(back.stdout).toBe(text)
  })

  it('lists some of the skipped files of a folder, and all of them as JSON', async () => {
    using cli = createCli()
    const folder = join(cli.workdir, 'old')
    mkdirSync(folder)
    for (let each = 10; each < 35; each++) writeFileSync(join(folder, `x${each}.json`), '{}')
    writeFileSync(join(folder, 'a.jsonl'), createLongConversation(1))
    symlinkSync(join(folder, 'a.jsonl'), join(folder, 'b.jsonl'))
    const result = await cli.run(['import', 'old'])
    expect(result.code, result.stderr).toBe(0)
    expect(result.stderr).toMatch(/^Skipped: .*b\.jsonl is a link/m)
    expect(result.stderr.match(/^Skipped: \//gm)?.length).toBe(20)
    expect(result.stderr).toContain('Skipped: and 6 more. Use --list to list them all.\n1 imported, 26 skipped.')
    const quiet = await cli.run(['import', 'old', '--quiet'])
    expect(quiet.stderr).toBe('1 same, 26 skipped.\n')
    const { files } = JSON.parse((await cli.run(['import', 'old', '--json'])).stdout)
    expect(files.filter(({ status }: { status: string }) => status === 'skipped').length).toBe(26)
  })

  it('prints a summary of many sessions, and all of them with --list', async () => {
    using cli = createCli()
    for (let each = 0; each < 25; each++)
      writeFileSync(join(cli.workdir, `s${each}.jsonl`), createLongConversation(1, `s${each}`))
    const imported = await cli.run(['import', cli.workdir])
    expect(imported.stdout.trim().split('\n').length).toBe(20)
    expect(imported.stderr).toContain('… and 5 sessions more. Use --list to list them all.')
    expect(imported.stderr).toMatch(/25 imported\.\n$/)
    const listed = await cli.run(['import', cli.workdir, '--list'])
    expect(listed.stdout.trim().split('\n').length).toBe(25)
  })

  it('names the commands that give a session without a folder one', async () => {
    using cli = createCli()
    for (const id of ['one', 'two'])
      writeFileSync(join(cli.workdir, `${id}.jsonl`), createLongConversation(1, id).replaceAll('/work', '/etc'))
    const imported = await cli.run(['import', cli.workdir])
    const [first = '', second = ''] = imported.stdout.match(/ses_\w+/g) ?? []
    expect(imported.stderr).toContain(
      "2 sessions have no folder to work in. To give them all one: holdfast mv-workspace '' <folder>",
    )
    expect(imported.stderr).toContain(`holdfast run -s ${first} --workdir <folder> <prompt>`)
    expect(imported.stderr.match(/Its folder \/etc is a folder of the system\./g)).toHaveLength(1)
    expect(imported.stderr).toContain('2 files: Its folder /etc')
    for (const id of [first, second]) await cli.run(['tell', id, 'setModel', 'model=demo/agent'])

    const refused = await cli.run(['run', '-s', first, 'hello'])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('has no folder to work in. Give it one first. Add --workdir <folder>.'),
    ])
    const withModel = await cli.run(['run', '-s', first, '--model', 'demo/agent', 'hello'])
    expect([withModel.code, withModel.stderr]).toEqual([
      2,
      expect.stringContaining(`To change the model of a session: holdfast tell ${first} setModel model=demo/agent`),
    ])
    const tools = await cli.run(['tools', first])
    expect([tools.code, tools.stdout]).toEqual([0, expect.stringContaining('\nFolder: none yet\n')])
    expect((await cli.run(['run', '-s', first, '--workdir', '.', 'list'])).code).toBe(0)
    expect((await cli.run(['run', '-s', first, '--workdir', cli.workdir, 'list'])).code).toBe(0)
    const elsewhere = await cli.run(['run', '-s', first, '--workdir', cli.home, 'list'])
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining(`already works in ${cli.workdir}`)])

    const none = await cli.run(['mv-workspace', '/gone', cli.workdir])
    expect(none.stderr).toContain(
      "1 session without a folder stayed. To give all of them one: holdfast mv-workspace '' <folder>",
    )
    const moved = await cli.run(['mv-workspace', '', '.', '--json'])
    expect(JSON.parse(moved.stdout)).toMatchObject({ count: 1, moved: [{ id: second, workspace: cli.workdir }] })
    expect((await cli.run(['run', '-s', second, 'list'])).code).toBe(0)
  })

  it('says also with --quiet that a session has no folder', async () => {
    using cli = createCli()
    writeFileSync(join(cli.workdir, 'one.jsonl'), createLongConversation(1).replaceAll('/work', '/etc'))
    const imported = await cli.run(['import', 'one.jsonl', '--quiet'])
    expect(imported.stderr).toContain("1 session has no folder to work in. To give it one: holdfast mv-workspace ''")
    expect(imported.stderr).not.toContain('one.jsonl:')
  })

  it('fails for a named file that differs from its session, and names the way to take it', async () => {
    using cli = createCli()
    const whole = createLongConversation(2)
    writeFileSync(join(cli.workdir, 'one.jsonl'), whole)
    const [id = ''] = (await cli.run(['import', 'one.jsonl'])).stdout.match(/ses_\w+/) ?? []
    const own = (await cli.run(['export', id, '--format', 'jsonl'])).stdout
    await cli.run(['rm', id, '--forever', '--yes'])
    // Cut in the middle of a turn, which the import ends.
    writeFileSync(join(cli.workdir, 'own.jsonl'), own.slice(0, own.indexOf('\n', own.lastIndexOf('"user.said"')) + 1))
    expect((await cli.run(['import', 'own.jsonl'])).code).toBe(0)
    writeFileSync(join(cli.workdir, 'own.jsonl'), own)
    const changed = await cli.run(['import', 'own.jsonl'])
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining(`holdfast rm ${id} --forever`)])
    expect((await cli.run(['import', cli.workdir])).code).toBe(0) // of a folder, other files may be as they were
    expect((await cli.run(['rm', id, '--forever', '--yes'])).code).toBe(0)
    expect((await cli.run(['import', 'own.jsonl'])).code).toBe(0)
    expect((await cli.run(['export', id, '--format', 'jsonl'])).stdout).toBe(own)
  })

  it.each(['sqlite', 'jsonl'])('completes a killed import (%s)', async (kind) => {
    using cli = createCli()
    const turns = 20_000
    writeFileSync(join(cli.workdir, 'long.jsonl'), createLongConversation(turns))
    const environment = { HOLDFAST_STORE: `${kind}:${join(cli.workdir, 'store')}` }
    const counts = async () => {
      const { stdout } = await cli.run(['ls', '--all', '--json'], { environment })
      return [...stdout.matchAll(/"messageCount": *(\d+)/g)].map(([, count]) => Number(count))
    }
    const killed = cli.start(['import', 'long.jsonl'], { environment })
    while ((await counts()).length === 0);
    killed.kill('SIGKILL')
    await killed.ended
    const again = await cli.run(['import', 'long.jsonl'], { environment })
    // What was not whole yet is removed at the next start or extended; it may also have finished before it was killed.
    expect(again.stderr).toMatch(/^1 (imported|grown|same)\.$/m)
    expect(await counts()).toEqual([2 * turns])
    expect((await cli.run(['doctor'], { environment })).code).toBe(0)
  })

  it('fails if there is nothing to import', async () => {
    using cli = createCli()
    writeFileSync(join(cli.workdir, 'x.json'), '{"theme":"dark"}')
    const none = await cli.run(['import', 'x.json'])
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringContaining('is not a session file that Holdfast can import'),
    ])
    writeFileSync(join(cli.workdir, 'notes.md'), '# Notes\n\nnot a session\n')
    expect((await cli.run(['import', 'notes.md'])).stderr).toContain('notes.md is not a session file')
    const missing = await cli.run(['import', 'missing.jsonl'])
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/missing\.jsonl does not exist\.$/m)])
    expect(missing.stderr).not.toContain('ENOENT')
    const wrong = await cli.run(['import', 'x.json', '--from', 'word'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--from must be auto, holdfast')])
  })
})
