import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invariant } from '@holdfast/protocol'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { openBrowser } from './browser.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/** What one test has: a browser profile that is logged in, and a working directory, both its own. */
export type OpenPage = {
  readonly browser: Browser
  readonly server: ServerProcess
  readonly context: BrowserContext
  readonly page: Page
  readonly workdir: string
  /** What the page has written to the console as errors. */
  readonly complaints: readonly string[]
}

type PageTestOptions = {
  readonly env?: { readonly [name: string]: string }
  readonly profile?: BrowserContextOptions
  /** Writes files into the home of the server before it starts. */
  readonly prepare?: (home: string) => Promise<void>
}

/** One server and one browser for all tests of a block: to start them takes longer than most tests. */
export function usePage({ env = {}, profile = {}, prepare }: PageTestOptions = {}) {
  let shared: { readonly browser: Browser; readonly server: ServerProcess; readonly login: LoginState } | null = null
  let open: OpenPage | null = null
  let home = ''
  const now = (): OpenPage => {
    invariant(open, 'a test is running')
    return open
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
    await prepare?.(home)
    const [browser, server] = await Promise.all([openBrowser(), startServerProcess({ home, env })])
    shared = { browser, server, login: await logIn(browser, server) }
  })
  afterAll(async () => {
    await shared?.browser.close()
    await shared?.server.stop()
    await rm(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    invariant(shared, 'the server has started')
    const { browser, server, login } = shared
    const workdir = await makeWorkdir()
    const context = await browser.newContext({ ...profile, storageState: login })
    open = { browser, server, workdir, context, ...(await openTab(context)) }
  })
  afterEach(async () => {
    if (open === null) return
    await open.context.close()
    await rm(open.workdir, { recursive: true, force: true })
    open = null
  })
  return { now, ...createPerson(now) }
}

type LoginState = Awaited<ReturnType<BrowserContext['storageState']>>

/** The link works once, so all profiles get the cookie of the first. */
async function logIn(browser: Browser, server: ServerProcess): Promise<LoginState> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(server.loginLink)
  const state = await context.storageState()
  await context.close()
  return state
}

/** Makes a working directory with one file. */
export async function makeWorkdir(): Promise<string> {
  const workdir = await mkdtemp(join(tmpdir(), 'holdfast-work-'))
  await writeFile(join(workdir, 'hello.txt'), 'hello from the file\n')
  return workdir
}

/** How long a step may take on a busy machine: a quarter of what its test may. */
const stepMs = 60_000

/** Opens a tab, and collects what it complains about. */
export async function openTab(context: BrowserContext): Promise<Pick<OpenPage, 'page' | 'complaints'>> {
  const page = await context.newPage()
  page.setDefaultTimeout(stepMs)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints }
}

/** Enters the folder to work in, and leaves the field: its open list would hide the rest of the form. */
export async function enterFolder(page: Page, folder: string): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Folder' })
  await field.fill(folder)
  await field.blur()
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

/** What a person does on the page that is open now. */
export function createPerson(now: () => Pick<OpenPage, 'page' | 'workdir' | 'server'>) {
  const transcript = () => now().page.getByRole('log', { name: 'Transcript' })
  const said = () => transcript().getByRole('article', { name: 'You' })
  /** The last prompt on the page by its element id; empty without one. Prompts far above are not drawn, so none are counted. */
  const lastPrompt = () =>
    now().page.evaluate<string>(`[...document.querySelectorAll('[role="log"][aria-label="Transcript"] article[aria-label="You"]')]
      .at(-1)?.closest('[id^="message-"]')?.id ?? ''`)
  /** The last prompt before another one was sent; null once that one is shown too. */
  let promptBefore: string | null = null
  /** Waits until the last prompt is shown, because its turn may not have begun yet, and then until no turn runs. */
  async function atRest(): Promise<void> {
    if (promptBefore !== null) await expect.poll(lastPrompt).not.toBe(promptBefore)
    promptBefore = null
    await now().page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  }
  const answer = (to: number) =>
    transcript().getByText(`${Array.from({ length: to }, (_, index) => index + 1).join(', ')}.`, { exact: true })
  async function startSession(firstWords: string, address = now().server.url): Promise<void> {
    const { page, workdir } = now()
    await page.goto(address)
    await page.getByRole('textbox', { name: 'Message' }).fill(firstWords)
    await enterFolder(page, workdir)
    await page.getByRole('button', { name: 'Start session' }).click()
    await transcript().waitFor()
    promptBefore = ''
  }
  async function say(text: string): Promise<void> {
    const { page } = now()
    promptBefore = await lastPrompt()
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  return {
    atRest,
    transcript,
    answer,
    startSession,
    say,
    approve: () => now().page.getByRole('button', { name: 'Approve' }).click(),
    /** Sends several prompts, and waits for each answer before the next prompt. */
    async count(...numbers: readonly number[]): Promise<void> {
      for (const [place, to] of numbers.entries()) {
        if (place === 0) await startSession(`count to ${to}`)
        else await say(`count to ${to}`)
        await answer(to).waitFor()
        await atRest()
      }
    },
    prompts: () => said().allInnerTexts(),
    async turnMenu(turn: number) {
      // A dialog that is closing takes the focus back, and closes the menu that was opened meanwhile.
      await expect.poll(() => now().page.getByRole('dialog').count()).toBe(0)
      await transcript().getByRole('button', { name: 'Branch, fork or rewind' }).nth(turn).click()
      return now().page.getByRole('menu', { name: 'This turn' })
    },
    async openMore() {
      await now().page.getByRole('button', { name: 'More' }).click()
      return now().page.getByRole('menu', { name: 'This session' })
    },
  }
}
