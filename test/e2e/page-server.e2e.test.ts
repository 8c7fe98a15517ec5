import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { invariant, orThrow } from '@holdfast/protocol'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBrowser } from './browser.ts'
import { createPerson, makeWorkdir, openTab, usePage } from './page-fixture.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/** Takes a picture if `PAGE_SHOTS` names a folder. */
const picture = async (page: Page, name: string) => {
  const shots = process.env['PAGE_SHOTS']
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

describe('the page and its server', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let server: ServerProcess
  let home = ''
  let workdir = ''
  let complaints: readonly string[] = []
  const { startSession } = createPerson(() => ({ page, workdir, server }))

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())
  // Each of these tests starts, stops or kills the server, or wants an empty store.
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
    workdir = await makeWorkdir()
    server = await startServerProcess({ home })
    context = await browser.newContext()
    ;({ page, complaints } = await openTab(context))
  })
  afterEach(async () => {
    await context.close()
    await server.stop()
    await rm(home, { recursive: true, force: true })
    await rm(workdir, { recursive: true, force: true })
  })

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
    await page.getByRole('combobox', { name: /^Model: / }).click()
    await page.getByRole('combobox', { name: 'Search: Model' }).fill('anthropic sonnet')
    await page.getByRole('group', { name: 'Anthropic: needs a key' }).getByRole('option').first().click()
    const dialog = page.getByRole('dialog', { name: 'Add a key for Anthropic' })
    await dialog.getByLabel('Key').fill('sk-ant-for-the-page')
    await dialog.getByRole('button', { name: 'Check and save' }).click()
    await dialog.getByRole('alert').waitFor() // it cannot be checked
    await dialog.getByRole('button', { name: 'Save without a check' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: /^Model: Claude Sonnet/ }).waitFor()
    expect(await message.inputValue()).toBe('Where is the harbour?')
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('log', { name: 'Transcript' }).getByText('Where is the harbour?').waitFor()
    expect(await page.content()).not.toContain('sk-ant-for-the-page')
    expect(complaints.filter((line) => !/409|503/.test(line))).toEqual([])
  })

  it('keeps a pending approval over a kill -9 and continues after the answer', async () => {
    await startSession('write kept.txt: still here', server.loginLink)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const address = new URL(page.url())
    await server.kill()
    server = await startServerProcess({ home, port: Number(address.port) })
    await page.reload() // a restart logs nobody out
    await page.getByRole('status').getByText('Waiting for you').waitFor() // a screen reader hears it too
    await page.getByRole('region', { name: 'What will run' }).getByText('still here').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'kept.txt'), 'utf8')).toContain('still here')
  })

  it('lets nothing look usable while the server is away, and finds the sessions that it knows', async () => {
    await startSession('write kept.txt: still here', server.loginLink)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('next')
    const pencil = page.getByRole('button', { name: 'Edit prompt' })
    expect(await pencil.isEnabled()).toBe(true)
    await server.kill()
    await page.getByText('Connection lost.').waitFor()
    await expect.poll(() => pencil.isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'New session' }).click()
    const suggestion = page.getByRole('list', { name: 'Suggestions' }).getByRole('button').first()
    await suggestion.waitFor()
    expect(await suggestion.isDisabled()).toBe(true)
    for (const name of ['Attach files', 'Asks before changes', 'Running', 'Filter'])
      expect([name, await page.getByRole('button', { name, exact: true }).isDisabled()]).toEqual([name, true])
    // The known sessions that a search fits are still there.
    const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('link')
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('kept')
    await page.getByText('The server does not respond.').first().waitFor()
    await expect.poll(() => rows.count()).toBe(1)
  })

  it('updates the list when another client changes a session', async () => {
    let lists = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/sessions' && request.method() === 'GET') lists += 1
    })
    await page.goto(server.loginLink)
    await page.getByText('No sessions yet.').waitFor()

    const started = await server.sessions.start({ workdir })
    invariant(started.ok, 'the session starts')
    const say = (content: string) => started.value.submit({ type: 'sendPrompt', content })
    const row = page
      .getByRole('list', { name: 'Sessions' })
      .getByRole('listitem')
      .filter({ has: page.getByRole('link') })
    await say('write far.txt: from afar')
    await row.filter({ hasText: 'write far.txt' }).getByRole('img', { name: 'Waits for your approval' }).waitFor()
    const before = lists
    // The call is being prepared until it asks.
    const asked = async () => orThrow(await started.value.snapshot()).view.pendingApprovals.length
    await expect.poll(asked).toBe(1)
    orThrow(await started.value.submit({ type: 'respondToApproval', decision: 'reject' }))
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

  it('shows the lost connection everywhere, keeps the text, and opens what was asked for meanwhile', async () => {
    await startSession('read hello.txt', server.loginLink)
    await page.getByText('hello from the file').first().waitFor()
    const { page: other } = await openTab(context)
    await other.goto(server.url)
    await other.getByRole('button', { name: 'Start session' }).waitFor()
    const { page: settings, complaints: settingsComplaints } = await openTab(context)
    await settings.goto(`${server.url}/#/settings`)
    const tokens = settings.getByRole('list', { name: 'Tokens' })
    await settings.getByText('works: it accepts writes').waitFor()
    await settings
      .getByRole('button', { name: /^Add a key for / })
      .first()
      .click()
    const key = settings.getByRole('dialog').getByLabel(/^Key/)
    await key.fill('sk-none')
    const { port } = new URL(server.url)
    const { link } = await connectHoldfast(server.url, server.token).share(page.url().split('/s/').at(-1) ?? '')
    const stranger = await browser.newContext()
    const { page: shared } = await openTab(stranger)
    await shared.goto(link)
    await shared.getByText('hello from the file').first().waitFor()
    await server.kill()
    for (const tab of [page, other, shared]) await tab.getByRole('alert').getByText('Connection lost.').waitFor()
    expect(await page.getByRole('button', { name: 'Import…' }).isDisabled()).toBe(true)
    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill('list')
    const send = page.getByRole('button', { name: 'Send' })
    expect(await send.isDisabled()).toBe(true)
    expect(await other.getByRole('button', { name: 'Start session' }).isDisabled()).toBe(true)
    const check = settings.getByRole('button', { name: 'Check and save' })
    await expect.poll(() => check.isDisabled()).toBe(true)
    expect(await key.isDisabled()).toBe(true)
    await settings.keyboard.press('Escape')
    const name = settings.getByRole('textbox', { name: 'Name' })
    await settings.getByRole('dialog').waitFor({ state: 'detached' })
    const off = [name, settings.getByRole('button', { name: 'Empty trash…' }), settings.getByLabel(/^Model: /)]
    for (const one of off) expect(await one.isDisabled()).toBe(true)
    expect(await settings.getByRole('button', { name: 'Dark', exact: true }).isEnabled()).toBe(true) // of the browser
    await picture(settings, 'settings-lost')
    expect(await tokens.getByRole('listitem').count()).toBe(0)
    await other.goto(page.url()) // the same page with another hash
    await other.getByText('The session opens by itself when the server is back.').waitFor()

    server = await startServerProcess({ home, port: Number(port) })
    for (const tab of [page, shared]) await tab.getByText('Connection lost.').waitFor({ state: 'detached' })
    await stranger.close()
    await expect.poll(() => tokens.getByRole('listitem').count()).toBe(1) // that of the share link
    expect(await name.isEnabled()).toBe(true)
    expect(settingsComplaints.filter((text) => !text.includes('net::ERR'))).toEqual([])
    await settings.close()
    expect(await box.inputValue()).toBe('list')
    await other.getByText('hello from the file').first().waitFor()
    const take = page.getByRole('button', { name: 'Take control' })
    await page.locator('[title*="connection is lost"]').first().waitFor({ state: 'detached' })
    await other.close() // the first tab that came back has control
    await take.waitFor({ state: 'detached' }) // the seat is free, and writing takes it
    await send.click()
    await page.getByRole('log').getByText('list', { exact: true }).waitFor()
  })
})

describe('an answer that takes its time', () => {
  const { now, startSession } = usePage({ env: { DEMO_PACE: '1' } })

  it('stops a running answer and keeps its text', async () => {
    const { page } = now()
    await startSession('count to 500')
    await page.getByText(/\b3\b/).first().waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    await page
      .getByText(/interrupted|stopped/i)
      .first()
      .waitFor()
    await page.reload()
    await page.getByText(/\b3\b/).first().waitFor()
  })

  it('continues a stopped turn', async () => {
    const { page, complaints } = now()
    await startSession('count to 300')
    await page.getByText(/\b3\b/).first().waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    const goOn = page.getByRole('button', { name: 'Continue' })
    await goOn.click()
    await goOn.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await goOn.waitFor()
    expect(complaints).toEqual([])
  })
})
