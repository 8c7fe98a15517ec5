import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ImportAnswer, invariant } from '@holdfast/protocol'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLongConversation } from '../../packages/holdfast/src/transfer/import/testing/long-conversation.ts'
import { usePage } from './page-fixture.ts'
import type { ServerProcess } from './server-process.ts'

describe('the page, in a real browser on a real server', () => {
  const { now, startSession, say, atRest, transcript } = usePage()
  let page: Page
  let context: BrowserContext
  let server: ServerProcess
  let workdir: string
  let complaints: readonly string[]
  beforeEach(() => {
    ;({ page, context, server, workdir, complaints } = now())
  })

  it('streams an answer with a tool card, and lists the session', async () => {
    await startSession('read hello.txt')
    await page.getByText('hello from the file').first().waitFor()
    await page
      .getByRole('button', { name: /read_file/ })
      .first()
      .waitFor()
    await page.getByRole('list', { name: 'Sessions' }).getByText('read hello.txt').first().waitFor()
    expect(complaints).toEqual([])
  })

  it('asks before writing a file, shows the diff, and writes after approval', async () => {
    await startSession('write note.txt: a line of text')
    const body = page.getByRole('region', { name: 'What will run' })
    await body.getByText('a line of text').waitFor()
    await expect(readFile(join(workdir, 'note.txt'), 'utf8')).rejects.toThrow()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'note.txt'), 'utf8')).toContain('a line of text')
    const diff = page.getByRole('log', { name: 'Transcript' }).getByRole('figure', { name: 'Diff of note.txt' })
    expect(await diff.textContent()).toMatch(/note\.txt\s*new file\s*\+1 −0[\s\S]*\+a line of text/)
    await page.reload()
    await diff.getByText('a line of text').waitFor()
    expect(complaints).toEqual([])
  })

  it('asks for the folder of an imported session that has none, and then takes its prompt', async () => {
    const file = createLongConversation(1).replaceAll('/work', '/etc')
    const imported = await fetch(`${server.url}/v1/import?name=a.jsonl`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: file,
    })
    const { files } = ImportAnswer.parse(await imported.json())
    const session = files[0]?.session ?? ''
    const handle = await server.sessions.open(session)
    invariant(handle.ok, 'the session opens')
    await handle.value.submit({ type: 'setModel', model: 'demo/agent' })
    await page.goto(`${server.url}/#/s/${session}`)
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    await transcript().getByRole('article', { name: 'You' }).hover()
    await transcript().getByRole('button', { name: 'Edit prompt' }).click()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('read hello.txt')
    await page.getByRole('button', { name: 'Send again' }).click() // refused, after the history was rewound
    await page.getByRole('alert').getByText('This session has no folder to work in.').waitFor()
    expect(await box.inputValue()).toBe('read hello.txt')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('alert').getByText('This session has no folder to work in.').waitFor()
    const folder = page.getByRole('combobox', { name: 'Folder' })
    await folder.fill(join(workdir, 'gone'))
    await page.getByRole('button', { name: 'Use this folder' }).click()
    await page.getByRole('alert').getByText(/gone/).waitFor()
    await folder.fill(workdir)
    await page.getByRole('button', { name: 'Use this folder' }).click()
    await folder.waitFor({ state: 'detached' })
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Send' }).click() // the refused text is still there
    await page.getByRole('log', { name: 'Transcript' }).getByText('hello from the file').first().waitFor()
    expect(complaints.filter((text) => !text.includes('409') && !text.includes('400'))).toEqual([])
  })

  it('links to the whole of a shortened preview, and asks again if the file changed after it was shown', async () => {
    const path = join(workdir, 'long.txt')
    const lines = Array.from(
      { length: 7 },
      (_, index) => `line ${index} ${index === 3 ? 'needle ' : ''}${'x'.repeat(4000)}`,
    )
    await writeFile(path, `${lines.join('\n')}\n`)
    await startSession('edit long.txt: needle => pin')
    const body = page.getByRole('region', { name: 'What will run' })
    const link = body.getByRole('link', { name: /Download the whole preview \([\d,]+ bytes\)/ })
    const downloading = page.waitForEvent('download')
    await link.click()
    const whole = await readFile(await (await downloading).path(), 'utf8')
    for (const line of lines) expect(whole).toContain(`${line}\n`)
    expect(await body.textContent()).not.toContain('line 3 ')
    await body.getByRole('button', { name: 'Show all' }).click()
    await body.getByText('line 3 pin').waitFor()

    await writeFile(path, 'mine needle\n')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('The file changed after you approved this. Here is the new change.').waitFor()
    await body.getByText('mine needle').waitFor()
    expect(await link.count()).toBe(0)
    expect(await readFile(path, 'utf8')).toBe('mine needle\n')
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    expect(await readFile(path, 'utf8')).toBe('mine pin\n')
    expect(complaints).toEqual([])
  })

  it('does not run a rejected call', async () => {
    await startSession('run touch forbidden.txt')
    await page.getByRole('region', { name: 'What will run' }).getByText('touch forbidden.txt').waitFor()
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    await expect(readFile(join(workdir, 'forbidden.txt'))).rejects.toThrow()
  })

  it('queues prompts during a turn, which can be edited, moved, removed and recalled', async () => {
    await startSession('write held.txt: it waits') // the unanswered question holds the turn open
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    const rows = page.getByRole('list', { name: 'Queue' }).getByRole('listitem')
    const row = (text: string) => rows.filter({ hasText: text })
    await box.fill('list')
    await box.press('Control+Enter')
    await row('after this turn').waitFor()
    await box.fill('count to 2')
    await page.getByRole('button', { name: 'Follow up' }).click()
    await row('count to 2').waitFor()
    await box.fill('read hello.txt')
    await box.press('Enter')
    await row('next step').waitFor()
    expect((await rows.allInnerTexts()).map((text) => text.split('\n')[1])).toEqual([
      'read hello.txt',
      'list',
      'count to 2',
    ])

    await row('count to 2').getByRole('button', { name: 'Move up' }).click()
    await rows.nth(1).filter({ hasText: 'count to 2' }).waitFor()
    await row('count to 2').getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Queued message' }).fill('count to 3')
    await page.getByRole('button', { name: 'Save' }).click()
    await row('count to 3').waitFor()
    await row('list').getByRole('button', { name: 'Remove' }).click()
    await row('list').waitFor({ state: 'detached' })

    await page.reload() // what waits is on record
    await row('count to 3').waitFor()
    await box.fill('and this')
    await page.getByRole('button', { name: 'Edit all in the input' }).click()
    await rows.first().waitFor({ state: 'detached' })
    expect((await box.inputValue()).split('\n\n').sort()).toEqual(['and this', 'count to 3', 'read hello.txt'])

    await box.fill('read hello.txt')
    await box.press('Alt+Enter')
    await row('read hello.txt').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('hello from the file').first().waitFor() // it became the next turn
    await atRest()
    expect(await rows.count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Latest' }).count()).toBe(0) // nobody scrolled, so the end is in sight
    expect(complaints).toEqual([])
  })

  it('does not ask for trusted calls until the trust is revoked', async () => {
    await startSession('run echo one')
    const card = page.getByRole('region', { name: 'Run this command?' })
    await card.getByRole('radio', { name: 'This session' }).check()
    await card.getByText('This exact command runs without asking for the rest of this session.').waitFor()
    await card.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await say('run echo one')
    await page.getByRole('log').getByText('run echo one').nth(1).waitFor()
    await atRest()
    expect(await card.count()).toBe(0)

    await say('run echo two') // another command
    await card.getByText('echo two').waitFor()
    await card.getByRole('button', { name: 'Reject' }).click()
    await atRest()

    await page.getByRole('button', { name: '1 trusted' }).click()
    const menu = page.getByRole('dialog', { name: 'Runs without asking' })
    await menu.getByText('one exact call this session').waitFor()
    await menu.getByRole('button', { name: 'Revoke shell' }).click()
    await menu.waitFor({ state: 'detached' })
    await say('run echo one')
    await card.getByText('echo one').waitFor()
    expect(complaints).toEqual([])
  })

  it('lets one page drive while another watches, until control is given over or free', async () => {
    await startSession('read hello.txt\nwrite both.txt: seen by both')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByRole('region', { name: 'What will run' }).getByText('seen by both').waitFor()
    await other.getByText('You are watching. In control: another tab in this browser.').waitFor()
    expect(await other.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await other.getByRole('textbox', { name: 'Message' }).isDisabled()).toBe(true)
    expect(await other.getByRole('button', { name: 'Pin', exact: true }).first().isDisabled()).toBe(true)
    const card = other.getByRole('button', { name: /^read_file/ })
    await card.click() // folds for this page only
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('false')
    expect(await page.getByRole('button', { name: /^read_file/, expanded: true }).count()).toBe(1)

    await page.getByRole('button', { name: '2 screens' }).click()
    await page.getByRole('button', { name: 'Give control to another tab in this browser' }).click()
    await page.getByText('You are watching. In control: another tab in this browser.').waitFor()
    await other.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'both.txt'), 'utf8')).toContain('seen by both')

    await other.close()
    await page.getByText(/^You are watching/).waitFor({ state: 'detached' }) // the seat is free: writing takes it
    await say('read hello.txt')
    await page.getByText('hello from the file').first().waitFor()
    expect(complaints).toEqual([])
  })

  it('shares control with a client attached by HTTP', async () => {
    await startSession('read hello.txt')
    await atRest()
    const listed = await server.sessions.list({ limit: 1 })
    const [session] = listed.ok ? listed.value.sessions : []
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await fetch(`${server.url}/v1/sessions/${session?.id}/attachments${path}`, init)).status
    }
    expect(await ask('POST', '', { attachment: 'robot' })).toBe(201)
    await page.getByRole('button', { name: '2 screens' }).click()
    await page.getByRole('button', { name: 'Give control to robot' }).click()
    await page.getByText('You are watching. In control: robot.').waitFor()
    expect(await ask('POST', '/robot/handover', { client: 'nobody' })).toBe(409)
    expect(await ask('DELETE', '/robot')).toBe(204)
    await page.getByText(/^You are watching/).waitFor({ state: 'detached' })
    expect(await ask('POST', '/robot/claim')).toBe(409)
    await say('list')
    await page.getByRole('log').getByText('list', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('stays the driver after a reload', async () => {
    await startSession('read hello.txt')
    await atRest()
    await page.reload()
    await say('list')
    await page.getByRole('log').getByText('list', { exact: true }).waitFor()
    expect(await page.getByText(/^You are watching/).count()).toBe(0)
  })

  it('pins the plan when it switches to exec', async () => {
    await startSession('list')
    await atRest()
    await page.getByRole('button', { name: 'Plan', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Keep the plan' }).check()
    await page.getByRole('button', { name: 'Exec', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Keep the plan' }).waitFor({ state: 'detached' })
    const listed = await server.sessions.list({ limit: 1 })
    const [session] = listed.ok ? listed.value.sessions : []
    const handle = await server.sessions.open(session?.id ?? '')
    invariant(handle.ok, 'the session opens')
    const said: number[] = []
    for await (const frame of handle.value.subscribe({ after: 0 })) {
      if (frame.type !== 'record') continue
      if (frame.record.event.type === 'text.said') said.push(frame.record.seq)
      if (frame.record.event.type !== 'message.pinned') continue
      expect(frame.record.event).toMatchObject({ type: 'message.pinned', message: said.at(-1), pinned: true })
      break
    }
  })

  it('shows hostile text as text', async () => {
    const hostile = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
    await startSession(`write evil.html: ${hostile}`)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await page.title()).not.toBe('owned')
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.getByRole('textbox', { name: 'Message' }).fill('list')
    await page.getByRole('button', { name: 'Steer' }).click()
    await page.getByRole('list', { name: 'Queue' }).getByText('list').waitFor()
  })

  it('leaves the folder alone that a person is about to type', async () => {
    const started = await server.sessions.start({ workdir })
    invariant(started.ok, 'a session for the list')
    const prompted = await started.value.submit({ type: 'sendPrompt', content: 'count to 1' })
    invariant(prompted.ok, 'the session is listed')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/\/v1\/sessions\?/, async (route) => {
      await released
      await route.continue()
    })
    await page.goto(server.url)
    const field = page.getByRole('combobox', { name: 'Folder' })
    await field.focus()
    expect(await field.inputValue()).toBe('')
    release()
    await page
      .getByRole('link', { name: /count to 1/ })
      .first()
      .waitFor()
    expect(await field.inputValue()).toBe('')
  })

  it('says how to log in when signed out', async () => {
    await context.clearCookies()
    await page.goto(server.url)
    await page
      .getByText(/holdfast login/)
      .first()
      .waitFor()
  })
})
