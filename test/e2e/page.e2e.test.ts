import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

  it('logs in once by the link, and shows no secret in its address', async () => {
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

  it('asks before it writes, shows the change, and writes once approved', async () => {
    await startSession('write note.txt: a line of text')
    const body = page.getByRole('region', { name: 'What will run' })
    await body.getByText('a line of text').waitFor()
    await expect(readFile(join(workdir, 'note.txt'), 'utf8')).rejects.toThrow()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'note.txt'), 'utf8')).toContain('a line of text')
    expect(complaints).toEqual([])
  })

  it('does not run what is rejected', async () => {
    await startSession('run touch forbidden.txt')
    await page.getByRole('region', { name: 'What will run' }).getByText('touch forbidden.txt').waitFor()
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await expect(readFile(join(workdir, 'forbidden.txt'))).rejects.toThrow()
  })

  it('stops a running answer and keeps what was said', async () => {
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

  it('keeps an unanswered question over a kill -9 and a new server, and goes on when it is answered', async () => {
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

  it('shows hostile text as text', async () => {
    const hostile = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
    await startSession(`write evil.html: ${hostile}`)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await page.title()).not.toBe('owned')
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await say('list')
    await page.getByText('list').first().waitFor()
  })

  it('says how to get in when nobody is logged in', async () => {
    await page.goto(server.url)
    await page.getByText(/npm start/).waitFor()
  })
})
