import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invariant } from '@holdfast/protocol'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBrowser } from './browser.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

describe('the page, in a real browser on a real server', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let server: ServerProcess
  let home = ''
  let workdir = ''
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
    workdir = await mkdtemp(join(tmpdir(), 'holdfast-work-'))
    await writeFile(join(workdir, 'hello.txt'), 'hello from the file\n')
    server = await startServerProcess({ home })
    context = await browser.newContext()
    page = await context.newPage()
    complaints.length = 0
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  afterEach(async () => {
    await context.close()
    await server.stop()
    await rm(home, { recursive: true, force: true })
    await rm(workdir, { recursive: true, force: true })
  })

  async function startSession(firstWords: string): Promise<void> {
    await page.goto(server.loginLink)
    await page.getByRole('textbox', { name: 'Message' }).fill(firstWords)
    await page.getByRole('combobox', { name: 'Working directory' }).fill(workdir)
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('log', { name: 'Transcript' }).waitFor()
  }
  const say = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const atRest = () => page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })

  it('logs in once by the link, and keeps the secret out of the address', async () => {
    await page.goto(server.loginLink)
    await page.getByRole('button', { name: 'Start session' }).waitFor()
    expect(page.url()).not.toContain('code=')
    expect(page.url()).not.toContain(server.token)

    const stranger = await browser.newContext()
    const again = await stranger.newPage()
    const answer = await again.goto(server.loginLink)
    expect(answer?.status()).toBe(401)
    await stranger.close()
  })

  it('says how to add a missing key, keeps the prompt, and sends it once there is a key', async () => {
    await server.stop()
    server = await startServerProcess({ home, env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }) // nobody answers there
    await page.goto(server.loginLink)
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill('Where is the harbour?')
    await page.getByRole('combobox', { name: 'Model' }).fill('anthropic/claude-sonnet-4-5')
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('alert').getByText('holdfast auth login').waitFor()
    expect(await message.inputValue()).toBe('Where is the harbour?')

    const file = { version: 1, providers: { anthropic: { key: 'sk-ant-for-the-page' } } }
    await mkdir(join(home, 'config'), { recursive: true, mode: 0o700 })
    await writeFile(join(home, 'config', 'credentials.json'), JSON.stringify(file), { mode: 0o600 })
    expect(await server.sessions.refreshCredentials()).toMatchObject({ ok: true })
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('log', { name: 'Transcript' }).getByText('Where is the harbour?').waitFor()
    expect(await page.content()).not.toContain('sk-ant-for-the-page')
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([])
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
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'note.txt'), 'utf8')).toContain('a line of text')
    const diff = page.getByRole('log', { name: 'Transcript' }).getByRole('figure', { name: 'Diff of note.txt' })
    expect(await diff.textContent()).toMatch(/note\.txt\s*new file\s*\+1 −0[\s\S]*\+a line of text/)
    await page.reload()
    await diff.getByText('a line of text').waitFor()
    expect(complaints).toEqual([])
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

  it('shows tasks, changed files, boundaries and rules beside the transcript, and restores files', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await startSession('todo done look; doing fix the lamp; test it')
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByRole('listitem').filter({ hasText: 'fix the lamp' }).getByText('in progress').waitFor()
    await page.getByRole('button', { name: 'Panel, 1 of 3 tasks done' }).waitFor()

    await say('read hello.txt')
    await atRest()
    await say('edit hello.txt: hello => goodbye')
    await page.getByRole('radio', { name: 'This workspace' }).check()
    await page.getByRole('group', { name: 'Approve for' }).getByText('allow edit_file').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await panel.getByRole('button', { name: 'Show the change of hello.txt, modified' }).click()
    const changes = page.getByRole('dialog', { name: 'Changes of hello.txt' })
    await changes.getByText('+goodbye from the file').waitFor()
    await page.keyboard.press('Escape')
    await say('edit hello.txt: goodbye => welcome') // nobody is asked now
    const diffs = page.getByRole('log', { name: 'Transcript' }).getByRole('figure', { name: 'Diff of hello.txt' })
    await diffs.getByText('+welcome from the file').waitFor()

    await panel.getByRole('button', { name: 'hello.txt', exact: true }).click()
    const lines = page.getByRole('listbox', { name: 'Lines of hello.txt' })
    await lines.getByRole('option', { name: 'welcome from the file' }).click()
    await page.getByRole('button', { name: 'Allow only these lines' }).click()
    await page.getByText('The agent may change only line 1.').waitFor()
    await page.keyboard.press('Escape')
    await panel.getByRole('button', { name: 'Clear the edit boundary of hello.txt' }).click()
    await panel.getByText('line 1').waitFor({ state: 'detached' })

    await panel.getByRole('button', { name: 'Restore all…' }).click()
    const preview = page.getByRole('list', { name: 'Files that will change' })
    await preview.getByRole('figure', { name: 'Diff of hello.txt' }).getByText('becomes what it was').waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toContain('welcome')
    await page.getByRole('button', { name: 'Restore 1 file' }).click()
    await page.getByText('1 file put back.').waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toBe('hello from the file\n')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('button', { name: 'Restore 1 file' }).waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toContain('welcome')
    await page.keyboard.press('Escape')

    await panel.getByRole('button', { name: 'Remove the rule allow edit_file' }).click()
    await panel.getByText('No rule: calls that change something ask.').waitFor()
    await panel.getByText('Add a rule').click()
    await panel.getByRole('textbox', { name: 'Pattern' }).fill('git status')
    await panel.getByRole('button', { name: 'Add rule' }).click()
    await panel.getByRole('button', { name: 'Remove the rule allow shell git status' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('lists the commands that run in the background with their output, and stops them', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    const command = 'echo ready; until [ -e more ]; do sleep 0.05; done; echo steady; exec sleep 1000'
    await startSession(`run in background ${command}`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: '1 command in the background' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    const row = panel.getByRole('listitem').filter({ hasText: command })
    const output = row.getByRole('region', { name: `Output of ${command}` })
    await output.getByText('ready', { exact: true }).waitFor()
    await row.getByText(/^\d.* s · 6 bytes$/).waitFor()
    await writeFile(join(workdir, 'more'), '')
    await output.getByText('ready\nsteady').waitFor()
    await row.getByRole('button', { name: `Stop ${command}` }).click()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: '1 command in the background' }).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('does not run a rejected call', async () => {
    await startSession('run touch forbidden.txt')
    await page.getByRole('region', { name: 'What will run' }).getByText('touch forbidden.txt').waitFor()
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await expect(readFile(join(workdir, 'forbidden.txt'))).rejects.toThrow()
  })

  it('stops a running answer and keeps its text', async () => {
    await server.stop()
    server = await startServerProcess({ home, env: { DEMO_PACE: '1' } })
    await startSession('count to 500')
    await page.getByText(/\b3\b/).first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await page
      .getByText(/interrupted|stopped/i)
      .first()
      .waitFor()
    await page.reload()
    await page.getByText(/\b3\b/).first().waitFor()
  })

  it('keeps a pending approval over a kill -9 and continues after the answer', async () => {
    await startSession('write kept.txt: still here')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const address = new URL(page.url())
    await server.kill()
    server = await startServerProcess({ home, port: Number(address.port) })
    await page.reload() // a restart logs nobody out
    await page.getByRole('region', { name: 'What will run' }).getByText('still here').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'kept.txt'), 'utf8')).toContain('still here')
  })

  it('queues prompts during a turn, which can be edited, moved, removed and recalled', async () => {
    await startSession('write held.txt: it waits') // the unanswered question holds the turn open
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    const rows = page.getByRole('list', { name: 'Queue' }).getByRole('listitem')
    const row = (text: string) => rows.filter({ hasText: text })
    await box.fill('list')
    await box.press('Control+Enter')
    await row('follows').waitFor()
    await box.fill('count to 2')
    await page.getByRole('button', { name: 'Follow up' }).click()
    await row('count to 2').waitFor()
    await box.fill('read hello.txt')
    await box.press('Enter')
    await row('steers next').waitFor()
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
    await page.getByRole('button', { name: 'Move to input' }).click()
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
    const menu = page.getByRole('region', { name: 'Runs without asking' })
    await menu.getByText('one exact call this session').waitFor()
    await menu.getByRole('button', { name: 'Revoke shell' }).click()
    await menu.waitFor({ state: 'detached' })
    await say('run echo one')
    await card.getByText('echo one').waitFor()
    expect(complaints).toEqual([])
  })

  it('lets one page drive while another watches, until control is given over or free', async () => {
    await startSession('write both.txt: seen by both')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByRole('region', { name: 'What will run' }).getByText('seen by both').waitFor()
    await other.getByText(/^You are watching\. page-\w+ is the driver\.$/).waitFor()
    expect(await other.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await other.getByRole('textbox', { name: 'Message' }).isDisabled()).toBe(true)
    expect(await other.getByRole('button', { name: 'Pin', exact: true }).first().isDisabled()).toBe(true)
    await other.getByRole('button', { name: /^write_file/ }).click() // folds for this page only
    await other.getByRole('button', { name: /^write_file/, expanded: false }).waitFor()
    expect(await page.getByRole('button', { name: /^write_file/, expanded: true }).count()).toBe(1)

    await page.getByRole('button', { name: '2 attached' }).click()
    await page.getByRole('button', { name: /^Give control to page-/ }).click()
    await page.getByText(/^You are watching\. page-\w+ is the driver\.$/).waitFor()
    await other.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'both.txt'), 'utf8')).toContain('seen by both')

    await other.close()
    await page.getByText('You are watching. This session has no driver.').waitFor()
    await page.getByRole('button', { name: 'Take control' }).click()
    await page.getByText(/^You are watching/).waitFor({ state: 'detached' })
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
    await page.getByRole('button', { name: '2 attached' }).click()
    await page.getByRole('button', { name: 'Give control to robot' }).click()
    await page.getByText('You are watching. robot is the driver.').waitFor()
    expect(await page.getByRole('button', { name: 'Take control' }).count()).toBe(0)
    expect(await ask('POST', '/robot/handover', { client: 'nobody' })).toBe(409)
    expect(await ask('DELETE', '/robot')).toBe(204)
    await page.getByRole('button', { name: 'Take control' }).click()
    await page.getByText(/^You are watching/).waitFor({ state: 'detached' })
    expect(await ask('POST', '/robot/claim')).toBe(409)
    await say('list')
    await page.getByRole('log').getByText('list', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('continues a stopped turn', async () => {
    await server.stop()
    server = await startServerProcess({ home, env: { DEMO_PACE: '1' } })
    await startSession('count to 300')
    await page.getByText(/\b3\b/).first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    const goOn = page.getByRole('button', { name: 'Continue' })
    await goOn.click()
    await goOn.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop' }).click()
    await goOn.waitFor()
    expect(complaints).toEqual([])
  })

  it('updates the list when another client changes a session', async () => {
    let lists = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/sessions' && request.method() === 'GET') lists += 1
    })
    const following = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/events')
    await page.goto(server.loginLink)
    await following
    await page.getByText('No sessions yet.').waitFor()

    const started = await server.sessions.start({ workdir })
    invariant(started.ok, 'the session starts')
    const say = (content: string) => started.value.submit({ type: 'sendPrompt', content })
    const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
    await say('write far.txt: from afar')
    await row.filter({ hasText: 'write far.txt' }).getByRole('img', { name: 'Using tools' }).waitFor()
    const before = lists
    await started.value.submit({ type: 'respondToApproval', decision: 'reject' })
    await row.getByRole('img', { name: 'Ready' }).waitFor()
    await started.value.submit({ type: 'enterPlan' })
    await row.getByRole('img', { name: 'Ready, planning only' }).waitFor()
    await say('fail rejected_key')
    await row.getByRole('img', { name: 'Failed' }).waitFor()
    expect([await row.count(), lists]).toEqual([1, before])
    expect(complaints).toEqual([])
  })

  it('updates the list after the server was away', async () => {
    await page.goto(server.loginLink)
    await page.getByText('No sessions yet.').waitFor()
    const { port } = new URL(server.url)
    await server.kill()
    await page.getByText('The server does not respond. Retrying…').waitFor()
    server = await startServerProcess({ home, port: Number(port) })
    const started = await server.sessions.start({ workdir })
    invariant(started.ok, 'the session starts')
    await started.value.submit({ type: 'sendPrompt', content: 'read hello.txt' })
    await page.getByRole('list', { name: 'Sessions' }).getByText('read hello.txt').first().waitFor()
    await page.getByText('The server does not respond. Retrying…').waitFor({ state: 'detached' })
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

  /** Says a number of prompts, each of which is answered before the next. */
  const count = async (...numbers: readonly number[]) => {
    for (const [place, to] of numbers.entries()) {
      if (place === 0) await startSession(`count to ${to}`)
      else await say(`count to ${to}`)
      await answer(to).waitFor()
      await atRest()
    }
  }
  const transcript = () => page.getByRole('log', { name: 'Transcript' })
  const answer = (to: number) =>
    transcript().getByText(`${Array.from({ length: to }, (_, index) => index + 1).join(', ')}.`, { exact: true })
  const prompts = () => transcript().getByRole('article', { name: 'You' }).allInnerTexts()
  const turnMenu = async (turn: number) => {
    await transcript().getByRole('button', { name: 'Branch, fork or rewind' }).nth(turn).click()
    return page.getByRole('region', { name: 'This turn' })
  }
  const openMore = async () => {
    await page.getByRole('button', { name: 'More' }).click()
    return page.getByRole('region', { name: 'This session' })
  }

  it('draws branches as a tree, and switches between them', async () => {
    await count(2, 3, 4)
    await (await turnMenu(0)).getByRole('button', { name: 'Branch from here' }).click()
    await answer(3).waitFor({ state: 'detached' })
    expect(await prompts()).toEqual(['count to 2'])
    await say('count to 5')
    await answer(5).waitFor()
    await atRest()

    const opener = page.getByRole('button', { name: '1 branch', exact: true })
    await opener.click()
    const tree = page.getByRole('region', { name: 'Branches' })
    await tree.getByText('After “count to 2”').waitFor()
    await tree.getByRole('button', { name: /^branch-1 3 turns · \d+ messages · saved just now count to 3$/ }).click()
    await answer(4).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3', 'count to 4'])

    await tree.getByText('branch-1').and(tree.locator('[aria-current] *')).waitFor()
    await tree.getByRole('button', { name: /^branch-2 .* count to 5$/ }).waitFor()
    await page.keyboard.press('ArrowDown') // and back, by keyboard alone
    await page.keyboard.press('Enter')
    await answer(5).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 5'])
    await page.reload()
    await answer(5).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 5'])
    expect(complaints).toEqual([])
  })

  it('rewinds to before a prompt, even the first, and puts its text into the input', async () => {
    await count(2, 3)
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    await box.fill('and more')
    await (await turnMenu(1)).getByRole('button', { name: 'Rewind to here' }).click()
    await answer(3).waitFor({ state: 'detached' })
    await expect.poll(() => box.inputValue()).toBe('count to 3\n\nand more')
    await box.fill('')
    await (await turnMenu(0)).getByRole('button', { name: 'Rewind to here' }).click()
    await transcript().getByText('No messages yet.').waitFor()
    await expect.poll(() => box.inputValue()).toBe('count to 2')
    await page.getByRole('button', { name: '2 branches' }).click()
    await page
      .getByRole('region', { name: 'Branches' })
      .getByRole('button', { name: /^branch-1 2 turns/ })
      .click()
    await answer(3).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3'])
    expect(complaints).toEqual([])
  })

  it('disables history changes during a turn, and says why', async () => {
    await count(2)
    await say('write held.txt: it waits')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const menu = await turnMenu(0)
    const branch = menu.getByRole('button', { name: 'Branch from here' })
    expect(await branch.isDisabled()).toBe(true)
    expect(await branch.getAttribute('title')).toBe('A turn is running. Stop it or wait until it ends.')
    expect(await menu.getByRole('button', { name: 'Rewind to here' }).isDisabled()).toBe(true)
    expect(await menu.getByRole('button', { name: 'Fork from here' }).isEnabled()).toBe(true) // that turn has ended
    await page.keyboard.press('Escape') // closes the menu, and stops nothing
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    const more = await openMore()
    expect(await more.getByRole('button', { name: 'Compact' }).isDisabled()).toBe(true)
  })

  it('forks at a turn, opens the fork with its history, and links the two', async () => {
    await count(2, 3, 4)
    const origin = page.url()
    await (await turnMenu(1)).getByRole('button', { name: 'Fork from here' }).click()
    await page.waitForURL((url) => url.href !== origin)
    await answer(3).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3'])
    await say('count to 6')
    await answer(6).waitFor()
    const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: '(fork)' })
    await row.getByRole('link', { name: 'from count to 2' }).waitFor()

    await page.getByRole('main').getByRole('link', { name: 'count to 2' }).click()
    await answer(4).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3', 'count to 4'])
    await (await openMore()).getByRole('region', { name: 'Forks' }).getByRole('link').click()
    await answer(6).waitFor()
    expect(complaints).toEqual([])
  })

  it('pins a message, keeps the pin after a reload, and links to it', async () => {
    await count(2, 3)
    await say('list')
    await transcript()
      .getByRole('button', { name: /^list_directory/ })
      .waitFor()
    await atRest()
    const pins = transcript().getByRole('button', { name: 'Pin', exact: true })
    await pins.first().click()
    const strip = page.getByRole('navigation', { name: 'Pinned messages' })
    await strip.getByRole('button', { name: 'count to 2' }).waitFor()
    await page.reload()
    await strip.getByRole('button', { name: 'count to 2' }).click()
    const pinned = transcript().getByRole('article', { name: 'You' }).first()
    await expect.poll(() => pinned.evaluate((element) => element.getBoundingClientRect().top > 0)).toBe(true)
    expect(await pins.first().getAttribute('aria-pressed')).toBe('true')
    await pins.first().click()
    await strip.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('collapses one or all tool calls, also after a reload', async () => {
    await startSession('list')
    const card = transcript().getByRole('button', { name: /^list_directory/ })
    await card.waitFor()
    await atRest()
    expect(await card.getAttribute('aria-expanded')).toBe('true')
    await card.click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('false')
    await page.reload()
    await card.waitFor()
    expect(await card.getAttribute('aria-expanded')).toBe('false')
    await (await openMore()).getByRole('button', { name: 'Expand all calls' }).click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('true')
    await page.getByRole('button', { name: 'Collapse all calls' }).click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('false')
  })

  it('compacts, shows the checkpoint, and undoes it; the gauge follows', async () => {
    await startSession('count to 300')
    await atRest()
    const gauge = page.getByRole('meter', { name: 'Context' })
    const tokens = () => gauge.evaluate((element) => Number(element.getAttribute('value')))
    const more = await openMore()
    await more.getByRole('button', { name: 'Compact' }).click()
    await more.getByRole('alert').getByText('There is nothing to summarise yet').waitFor()
    await page.keyboard.press('Escape')

    const early = await tokens()
    for (const to of [2, 3, 4]) {
      await say(`count to ${to}`)
      await answer(to).waitFor()
      await atRest()
    }
    const before = await tokens()
    expect(before).toBeGreaterThan(early)
    await (await openMore()).getByRole('button', { name: 'Compact' }).click()
    const divider = transcript().getByRole('region', { name: 'Checkpoint' })
    await divider.getByText('The model gets a summary of the messages above').waitFor()
    await page.keyboard.press('Escape')
    const after = await tokens()
    expect(after).toBeLessThan(before)
    await divider.getByRole('button', { name: 'Summary' }).click()
    await divider.getByText('This summary is by the demo').waitFor()

    await page.reload()
    await divider.getByRole('button', { name: 'Undo' }).click()
    await divider.getByText('the model gets the messages above').waitFor()
    expect(await divider.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    expect(await tokens()).toBe(before)
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([])
  })

  it('writes a summary to a file, and names the file', async () => {
    await count(2)
    const more = await openMore()
    await more.getByRole('button', { name: 'Summarize' }).click()
    const path = (await more.getByRole('status').locator('code').textContent()) ?? ''
    expect(path).toMatch(/^\.holdfast\/context\/.+\.md$/)
    expect(await readFile(join(workdir, path), 'utf8')).not.toBe('')
    expect(complaints).toEqual([])
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

  it('says how to log in when signed out', async () => {
    await page.goto(server.url)
    await page.getByText(/npm start/).waitFor()
  })
})
