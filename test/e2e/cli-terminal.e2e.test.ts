import { chmodSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTerminal } from './cli-terminal.ts'
import { openTui } from './tui-screen.ts'

it('a second serve at a terminal offers to open the page of the first, and does so on y', async () => {
  using cli = createCli()
  const first = cli.start(['serve', '--port', '0'])
  const [url = ''] = await first.until('stderr', /http:\S+/)
  const browser = join(cli.workdir, 'browser')
  writeFileSync(browser, '#!/bin/sh\necho "$1" > opened\n')
  chmodSync(browser, 0o755)

  using no = openTerminal(cli, ['serve'], { BROWSER: browser })
  await no.until(new RegExp(`already runs at ${url}`))
  await no.until(/Open its page in the browser\? \[y\/n\]/)
  no.type('n\r')
  expect(await no.ended).toBe(1)

  using yes = openTerminal(cli, ['serve'], { BROWSER: browser })
  await yes.until(/Open its page in the browser\? \[y\/n\]/)
  yes.type('y\r')
  await yes.until(/Opened the page/)
  expect(await yes.ended).toBe(0)
  const page = new URL((await readFile(join(cli.workdir, 'opened'), 'utf8')).trim())
  expect(await readFile(page, 'utf8')).toContain(`url=${url}`)
})

it('attach asks for approvals at a terminal: y runs the call, n refuses it, and another key is a prompt', async () => {
  using cli = createCli()
  await cli.run(['run', 'hello'])
  using attached = openTerminal(cli, ['attach', '@latest'])
  await attached.until(/You drive this session/)
  attached.type('run echo $((40 + 2))\r')
  await attached.until(/shell asks to run/)
  attached.type('y\r')
  await attached.until(/returned[\s\S]*42/)
  attached.type('run echo $((50 + 3))\r')
  await attached.until(/shell asks to run/)
  attached.type('n\r')
  await attached.until(/rejected|refused|not run/i)
  attached.type('count to 3\r')
  await attached.until(/1, 2, 3/)
  attached.type('/leave\r')
  expect(await attached.ended).toBe(0)
})

it('run asks for approvals at a terminal by one key, in call order, and says how to go on', async () => {
  using cli = createCli()
  using terminal = openTerminal(cli, ['run', 'write a.txt: one\nwrite b.txt: two\nwrite c.txt: three'])
  await terminal.until(/write_file asks to run: a\.txt[\s\S]*\+one[\s\S]*Approve\? y once/)
  terminal.type('x') // no answer
  terminal.type('y')
  await terminal.until(/Approved once\./)
  await terminal.until(/write_file asks to run: b\.txt[\s\S]*Approve\?/)
  terminal.type('n')
  await terminal.until(/Reason for the model/)
  terminal.type('two is wrong\r')
  await terminal.until(/write_file asks to run: c\.txt[\s\S]*Approve\?/)
  terminal.type('s')
  await terminal.until(/Approved for this session\./)
  const [, handle = ''] = await terminal.until(/To go on: holdfast run -s (\S+)/)
  expect(await terminal.ended).toBe(0)
  expect(await readdir(cli.workdir)).toEqual(['a.txt', 'c.txt'])
  expect((await cli.run(['show', handle])).stdout).toContain('two is wrong')

  const again = await cli.run(['run', '-c', 'write d.txt: four']) // no terminal: the trust of the session counts
  expect(again.stderr).toContain(`session ${handle}`)
  expect(await readdir(cli.workdir)).toContain('d.txt')
})

it('run: t covers the turn, s the session, and a the folder', async () => {
  using cli = createCli()
  const write = (name: string) => `write ${name}.txt: text`
  /** Runs prompts at a terminal. Returns whether it asked, and answers with `key` if so. */
  const isAsked = async (args: readonly string[], key: string): Promise<boolean> => {
    using terminal = openTerminal(cli, ['run', ...args])
    const [end] = await terminal.until(/Approve\? |To go on:/)
    if (end === 'To go on:') return false
    terminal.type(key)
    await terminal.until(/Approved for|Approved once/)
    await terminal.until(/To go on:/) // a second question would keep it waiting
    return true
  }
  expect(await isAsked([[write('a'), write('b')].join('\n')], 't')).toBe(true)
  expect(await isAsked(['-c', write('c')], 's')).toBe(true)
  expect(await isAsked(['-c', write('d')], 'n')).toBe(false)
  expect(await isAsked([write('e')], 'a')).toBe(true)
  expect(await isAsked([write('f')], 'n')).toBe(false)
  expect(await readdir(cli.workdir)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.txt`))
})

it('run takes no key that was typed before its question as the answer', async () => {
  using cli = createCli()
  using terminal = openTerminal(cli, ['run', 'write a.txt: one'])
  terminal.type('always')
  await terminal.until(/write_file asks to run: a\.txt/)
  terminal.type('y') // the question is not there yet
  await terminal.until(/Approve\? /)
  terminal.type('n')
  await terminal.until(/Rejected\./)
  await terminal.until(/Reason for the model/)
  terminal.type('\r')
  expect(await terminal.ended).toBe(0)
  expect(await readdir(cli.workdir)).toEqual([])
  expect((await cli.run(['permissions', 'list', '--json'])).stdout).not.toContain('write_file')
})

it('run asks at the terminal although its prompt is piped in', async () => {
  using cli = createCli()
  using terminal = openTerminal(cli, ['run'], {}, 'write a.txt: one')
  await terminal.until(/write_file asks to run: a\.txt[\s\S]*Approve\? /)
  terminal.type('y')
  await terminal.until(/Approved once\./)
  expect(await terminal.ended).toBe(0)
  expect(await readdir(cli.workdir)).toEqual(['a.txt'])
})

it('run stops at Ctrl-C while it asks, and says how to go on', async () => {
  using cli = createCli()
  using terminal = openTerminal(cli, ['run', 'write a.txt: one'])
  await terminal.until(/Approve\?/)
  terminal.type('x')
  await terminal.until(/\u0007/) // the bell: that is none of the keys
  terminal.type('\u0003')
  await terminal.until(/Everything so far is saved\. To go on:\r?\n {2}holdfast tell \S+ continue/)
  expect(await terminal.ended).toBe(130)
})

it('run stops at Ctrl-Z while it asks, and asks on after fg', async () => {
  using cli = createCli()
  await using screen = openTui(cli, ['run', "'write a.txt: one'"], { isJob: true })
  await screen.until(/Approve\?/)
  screen.type('\u001a')
  await screen.until(/Stopped/)
  screen.type('fg\r')
  await screen.until(/fg\n[\s\S]*write a/)
  screen.type('y')
  await screen.until(/Approved once\./)
})

it('asks before it deletes permanently, and pages what does not fit on the terminal', async () => {
  using cli = createCli()
  await cli.run(['run', 'count to 2'])
  using kept = openTerminal(cli, ['rm', '@latest', '--forever'])
  await kept.until(/Delete [a-z]+-[a-z]+-\d+ \(count to 2\) permanently\?\s+There is no way back\. \[y\/n\]/)
  kept.type('n\r')
  await kept.until(/Nothing was changed\./)
  expect(await kept.ended).toBe(1)

  const pager = { PAGER: "sed 's/^/paged: /'" }
  for (let turn = 0; turn < 4; turn++) await cli.run(['run', '-c', 'list'])
  using shown = openTerminal(cli, ['show', '@latest'], pager)
  await shown.until(/paged: you/)
  expect(await shown.ended).toBe(0)

  await cli.run(['rm', '@latest'])
  using emptied = openTerminal(cli, ['trash', 'empty'])
  await emptied.until(
    / {2}[a-z]+-[a-z]+-\d+ {2}count to 2\s+Delete 1 session in the trash permanently\? There is no way back\. \[y\/n\]/,
  )
  await cli.run(['run', 'count to 3']) // goes to the trash while the question waits
  await cli.run(['rm', '@latest'])
  emptied.type('y\r')
  await emptied.until(/Deleted permanently: 1 session\./)
  expect(await emptied.ended).toBe(0)
  expect((await cli.run(['trash'])).stdout).toContain('count to 3')
})

it('breaks no word of its questions, errors and footers in a terminal of 40 columns', async () => {
  using cli = createCli()
  await cli.run(['run', 'count to 2'])
  const narrow = (...args: readonly string[]) => openTerminal(cli, args, {}, null, 40)
  using run = narrow('run', 'run echo one two three four five six seven')
  await run.until(/shell asks to run:\r\necho one two three four five six seven\r\n {2}in /)
  await run.until(/\r\n {2}Approve\? y once {2}t this turn\r\n {2}s this session {2}a always here {2}n no: $/)
  run.type('n')
  await run.until(/Rejected\.[\s\S]*Reason for the model \(Enter for none\): ?\r?\n? *$/)
  run.type('\r')
  await run.until(/To go on: holdfast run -s [a-z]+-[a-z]+-\d+\r\n"…"/)
  await run.ended
  using kept = narrow('rm', '@latest', '--forever')
  await kept.until(/permanently\?[\s\S]*There\s+is\s+no\s+way\s+back\. \[y\/n\] $/)
  kept.type('n\r')
  await kept.ended
  using models = narrow('models')
  await models.until(/demo\/agent \*\r\n {2}CONTEXT unknown {2}ANSWER unknown {2}IN \$0\r\n/)
  await models.until(/\* marks the default\. Prices are dollars\r\nper million tokens/)
  using wrong = narrow('ls', '--url', 'http://127.0.0.1:9', '--token-file', 'no-such-file')
  await wrong.until(/Cannot read the token in no-such-file:\r\nENOENT\./)
})
