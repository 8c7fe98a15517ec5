import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow, type SessionHandle } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAxeProblems } from './axe.ts'
import { makeWorkdir, openTab, usePage } from './page-fixture.ts'

const list = (page: Page) => page.getByRole('list', { name: 'Sessions' })
const rowOf = (page: Page, title: string) => list(page).getByRole('listitem').filter({ hasText: title })
/** Returns the rows as text: headings with #, sessions by their titles. */
const shown = (page: Page) =>
  page.evaluate<readonly string[]>(`
    [...document.querySelectorAll('.sessions > li')]
      .sort((one, other) => parseFloat(one.style.top) - parseFloat(other.style.top))
      .flatMap((row) => {
        const title = row.querySelector('.row-title')
        return row.className === 'heading' ? ['# ' + row.innerText.trim()] : title ? [title.innerText] : []
      })
  `)

describe('finding sessions', () => {
  const { now, startSession, atRest, transcript, approve } = usePage({ env: { DEMO_PACE: '0.2' } })

  /** Starts a session with one prompt, by HTTP. */
  async function started(content: string, workdir = now().workdir): Promise<SessionHandle> {
    const { sessions } = now().server
    const handle = orThrow(await sessions.start({ workdir, model: 'demo/agent' }))
    orThrow(await handle.submit({ type: 'sendPrompt', content }))
    return handle
  }
  /** Removes the sessions of earlier tests. */
  async function clear(): Promise<void> {
    orThrow(await now().server.sessions.clearAll({ force: true }))
    orThrow(await now().server.sessions.emptyTrash())
  }

  it('groups by date or workspace, pinned first, and marks what waits and what runs', async () => {
    const { page, server, context } = now()
    await clear()
    const other = await makeWorkdir()
    await page.goto(server.url)
    const pier = await started('count to 2', other)
    await started('count to 3')
    const lamp = await started('write lamp.txt: on')
    orThrow(await pier.submit({ type: 'pinSession' }))
    const waiting = rowOf(page, 'write lamp.txt')
    await waiting.getByRole('img', { name: 'Waits for your approval' }).waitFor()
    await waiting.getByText('waits', { exact: true }).waitFor()
    await expect
      .poll(() => shown(page))
      .toEqual(['# Waiting for you 1', 'write lamp.txt: on', '# Pinned', 'count to 2', '# Today', 'count to 3'])
    await started('count to 400')
    await rowOf(page, 'count to 400').getByText('running').waitFor()

    const filter = async (label: string, value: string) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      const panel = page.getByRole('dialog', { name: 'Filter and group' })
      await panel.getByRole('combobox', { name: label }).selectOption(value)
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
    }
    await filter('Group by', 'workspace')
    const folder = (path: string) => `# ${path.split('/').at(-1)}`
    await expect.poll(() => shown(page)).toContain(folder(now().workdir))
    await page.getByRole('button', { name: 'Waiting' }).click()
    await expect.poll(() => shown(page)).toEqual(['# Waiting for you 1', 'write lamp.txt: on'])
    orThrow(await lamp.submit({ type: 'respondToApproval', decision: 'reject' }))
    await page.getByText('No session waits for you.').waitFor()
    await page.getByRole('button', { name: 'Waiting' }).click()
    await page.getByRole('button', { name: 'Running' }).click()
    await expect.poll(() => shown(page)).toEqual([folder(now().workdir), 'count to 400'])
    await page.getByRole('button', { name: 'Show all sessions' }).first().click()
    const folderField = page.getByRole('combobox', { name: 'Folder' })
    const folderBefore = await folderField.inputValue()
    await filter('Workspace', now().workdir)
    await expect.poll(() => shown(page)).not.toContain('count to 2')
    expect(await folderField.inputValue()).toBe(folderBefore) // what is started does not follow the filter
    await filter('Workspace', other)
    await expect.poll(() => shown(page)).toEqual(['# Pinned', 'count to 2'])
    await page.getByRole('button', { name: /^Remove the filter/ }).click()
    await filter('Model', 'demo/agent')
    await rowOf(page, 'count to 3').waitFor()
    const { page: again } = await openTab(context)
    await again.goto(server.url)
    await expect.poll(() => shown(again)).toContain(folder(now().workdir)) // the grouping is kept
  })

  it('finds every message with a snippet, and jumps to it', async () => {
    const { page } = now()
    await clear()
    await startSession('count to 30')
    await transcript().getByText('29, 30.').waitFor()
    await atRest()
    for (const number of [2, 3, 4]) {
      await page.getByRole('textbox', { name: 'Message' }).fill(`count to ${number}`)
      await page.keyboard.press('Enter')
      await atRest()
    }
    await page.goto(now().server.url)
    await page.locator('h1').click()
    await page.keyboard.press('/')
    await page.keyboard.type('30 cou')
    await page.getByRole('heading', { name: 'Messages' }).waitFor()
    const hit = list(page).getByRole('link', { name: /You: count to 30/ })
    expect(await hit.locator('mark').allInnerTexts()).toEqual(['cou', '30'])
    await hit.click()
    await expect
      .poll(() => page.evaluate<string>('document.activeElement.innerText'), { timeout: 20_000 })
      .toContain('count to 30')
    await expect.poll(() => page.url()).not.toContain('message=')
    await page.getByRole('button', { name: 'Running' }).click() // that session does not run
    await page.getByText('No sessions found.').waitFor()
    await expect.poll(() => hit.count()).toBe(0)
    await page.getByRole('button', { name: 'Running' }).click()
    await hit.waitFor()
    await page.route('**/v1/search?*', (route) => route.abort())
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('30 count')
    await page.getByText('Messages cannot be searched.').waitFor()
    await page.unroute('**/v1/search?*')
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('nothing has these words')
    await page.getByText('No sessions found.').waitFor()
  })

  it('renames, pins, forks, exports and shares from the menu of a row, by mouse and by keys', async () => {
    const { page, server } = now()
    await clear()
    await started('count to 2')
    await page.goto(server.url)
    const row = rowOf(page, 'count to 2')
    await row.click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('lamp')
    await page.keyboard.press('Enter')
    await rowOf(page, 'lamp').waitFor()
    const link = page.getByRole('link', { name: /lamp/ })
    // A dialog or menu gives the focus back when it has closed, so that a key pressed before that goes elsewhere.
    const closed = () => expect.poll(() => page.locator('[role="dialog"], [role="menu"]').count()).toBe(0)
    await closed()
    await link.focus()
    await page.keyboard.press('p')
    await rowOf(page, 'lamp').getByRole('img', { name: 'Pinned' }).waitFor()
    await link.focus()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Title' }).fill('the lamp')
    await page.getByRole('button', { name: 'Rename' }).click()
    await rowOf(page, 'the lamp').waitFor()
    await closed()

    for (const format of ['Markdown', 'HTML', 'JSON', 'JSONL, to import again']) {
      await rowOf(page, 'the lamp').hover()
      await page.getByRole('button', { name: 'Actions for the lamp' }).click()
      await page.getByRole('menuitem', { name: 'Export' }).press('ArrowRight')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format, exact: true }).click(),
      ])
      expect(download.suggestedFilename()).toMatch(/^the lamp\.(md|html|json|jsonl)$/)
      expect(await readFile(await download.path(), 'utf8')).toContain('count to 2')
      await closed()
    }
    await page.getByRole('link', { name: /the lamp/ }).focus()
    await page.keyboard.press('s')
    await page.getByRole('dialog', { name: 'Share this session' }).waitFor()
    await page.keyboard.press('Escape')
    await closed()
    await page.getByRole('link', { name: /the lamp/ }).focus()
    await page.keyboard.press('f')
    await page.getByText('This is a fork of “the lamp”').waitFor()
    await rowOf(page, '(fork)').waitFor()
  })

  it('deletes with undo, lists the trash, and restores from it', async () => {
    const { page } = now()
    await clear()
    await startSession('count to 2')
    await atRest()
    const address = page.url()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Move to the trash' }).click()
    await page.getByText('“count to 2” was moved to the trash.').waitFor()
    await page.getByRole('heading', { name: 'New session' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => page.url()).toBe(address)
    await rowOf(page, 'count to 2').getByRole('link').first().focus()
    await page.keyboard.press('Delete')
    await rowOf(page, 'count to 2').waitFor({ state: 'detached' })
    await page.locator('h1').click()
    await page.keyboard.press('Control+z')
    await transcript().getByText('1, 2.', { exact: true }).waitFor()
    await rowOf(page, 'count to 2').getByRole('link').first().focus()
    await page.keyboard.press('Delete')
    await rowOf(page, 'count to 2').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Trash' }).click()
    const trashed = page.getByRole('list', { name: 'Sessions in the trash' }).getByRole('listitem')
    await trashed.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('The trash is empty.').waitFor()
    await rowOf(page, 'count to 2').getByRole('link').first().focus()
    await page.keyboard.press('Delete')
    await trashed.getByRole('button', { name: 'Delete permanently…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('The trash is empty.').waitFor()
  })

  it('does not delete what runs unless a person says so', async () => {
    const { page, server } = now()
    await clear()
    await page.goto(server.url)
    await started('count to 2000')
    await rowOf(page, 'count to 2000').getByRole('link').first().focus()
    await page.keyboard.press('Delete')
    await page.getByText('was not moved to the trash: it is running').first().waitFor()
    await page.getByRole('button', { name: 'Stop it and move it' }).click()
    await rowOf(page, 'count to 2000').waitFor({ state: 'detached' })
  })

  it('imports sessions from files that are dropped on the list or chosen', async () => {
    const { page, server, workdir } = now()
    await clear()
    const handle = await started('count to 2')
    await expect.poll(async () => orThrow(await handle.state(['meta'])).meta.status).toBe('idle')
    const exported = await fetch(`${server.url}/v1/sessions/${handle.id}/export?format=jsonl`, {
      headers: { authorization: `Bearer ${server.token}` },
    }).then((answer) => answer.text())
    await clear()
    await page.goto(server.url)
    await page.getByText('No sessions yet.').waitFor()
    const files = await page.evaluateHandle(`{
      const data = new DataTransfer()
      data.items.add(new File([${JSON.stringify(exported)}], 'session.jsonl'))
      data
    }`)
    const zone = page.getByRole('navigation', { name: 'Session list' })
    await zone.dispatchEvent('dragover', { dataTransfer: files })
    await page.getByText('Drop to import sessions').waitFor()
    await zone.dispatchEvent('drop', { dataTransfer: files })
    await page.getByText('1 session imported.').waitFor()
    await rowOf(page, 'count to 2').waitFor()
    const bad = join(workdir, 'notes.txt')
    await writeFile(bad, 'no session')
    await page.getByLabel('Files to import').setInputFiles(bad)
    await page.getByText('Nothing was imported.').first().waitFor()
  })

  it('has a palette for sessions, messages and commands, and lists all keys', async () => {
    const { page, server } = now()
    await clear()
    await started('count to 2')
    await started('count to 3')
    await page.goto(server.url)
    await rowOf(page, 'count to 3').waitFor()
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search everything' })
    await palette
      .getByRole('option', { name: /count to 3/ })
      .first()
      .waitFor()
    await page.keyboard.type('to 2')
    await palette
      .getByRole('group', { name: 'Messages' })
      .getByRole('option', { name: /count to 2/ })
      .waitFor()
    await page.keyboard.press('Enter')
    await transcript().getByText('1, 2.', { exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('list all keys')
    await palette.getByRole('option', { name: /List all keys/ }).waitFor()
    await page.keyboard.press('Enter')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByText('Next session that waits').waitFor()
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    // From anywhere: the next session, the list, a new session.
    await page.locator('h1').click()
    await page.keyboard.press('k')
    await transcript().getByText('1, 2, 3.', { exact: true }).waitFor()
    await page.keyboard.press('Control+.')
    await page.getByRole('button', { name: 'Plan', exact: true, pressed: true }).waitFor()
    await page.keyboard.press('Control+Shift+d')
    await page.getByRole('dialog', { name: 'All changes of this session' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Shift+Escape')
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('TEXTAREA')
    await page.keyboard.press('Control+b')
    await page.getByRole('navigation', { name: 'Session list' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+b')
    await page.getByRole('navigation', { name: 'Session list' }).waitFor()
    await page.keyboard.press('Control+Shift+o')
    await page.getByRole('heading', { name: 'New session' }).waitFor()
    await page.locator('h1').click()
    await page.keyboard.press('?')
    await keys.waitFor()
  })

  it('goes to the next session that waits by a key', async () => {
    const { page, server } = now()
    await clear()
    await started('write one.txt: 1')
    await page.goto(server.url)
    await rowOf(page, 'write one.txt').getByText('waits').waitFor()
    // The key does nothing until the page has asked which sessions wait.
    const open = async () => {
      await page.keyboard.press('Shift+Alt+ArrowDown')
      return page.url()
    }
    await expect.poll(open).toContain('/s/')
    await approve()
    await rowOf(page, 'write one.txt').getByText('waits').waitFor({ state: 'detached' })
  })

  it('asks for notifications on a click, and notifies when no tab is seen', async () => {
    const { page, server } = now()
    await clear()
    await page.addInitScript(`
      globalThis.notified = []
      let permission = 'default'
      globalThis.Notification = class extends EventTarget {
        static get permission() { return permission }
        static async requestPermission() { permission = 'granted'; return permission }
        constructor(title, options) { super(); notified.push(title + ': ' + options.body) }
        close() {}
      }
    `)
    await page.goto(server.url)
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' })
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
      void document.dispatchEvent(new Event('visibilitychange'))
    `)
    await started('write asked.txt: 1')
    await expect
      .poll(() => page.evaluate<readonly string[]>('notified'))
      .toEqual(['Waits for your answer: write asked.txt: 1'])
  })

  it('draws few rows of 100,000 sessions, loads pages as they are scrolled to, and passes axe', async () => {
    const { page, server, browser, context } = now()
    const count = 100_000
    const asked: string[] = []
    const at = (number: number) => new Date(Date.now() - (count - number) * 60_000).toISOString()
    const any = aMeta({ messageCount: 1 })
    await page.route('**/v1/sessions?*', async (route) => {
      const query = new URL(route.request().url()).searchParams
      asked.push(query.get('cursor') ?? 'first')
      const from = Number(query.get('cursor') ?? count + 1) - 1
      const sessions = Array.from({ length: Math.min(Number(query.get('limit')), from) }, (_, index) => {
        const number = from - index
        const id = `ses_0${String(number).padStart(25, '0')}`
        return { ...any, id, title: `session ${number}`, lastMessageAt: at(number) }
      })
      const last = from - sessions.length + 1
      await route.fulfill({ json: { sessions, next: last > 1 ? String(last) : null } })
    })
    await page.goto(server.url)
    await rowOf(page, 'session 100000').waitFor()
    const drawn = () => list(page).getByRole('listitem').count()
    expect(await drawn()).toBeLessThan(60)
    const scrollTo = (top: string) =>
      page.evaluate(`{
        const list = document.querySelector('.sessions-scroller')
        list.scrollTop = ${top}
      }`)
    const scrolledDown = async () => {
      await scrollTo('list.scrollHeight')
      return asked.length
    }
    await expect.poll(scrolledDown, { interval: 20 }).toBeGreaterThanOrEqual(24)
    expect(await drawn()).toBeLessThan(60)
    // The first pages were dropped above, and come back.
    expect(await shown(page)).not.toContain('session 100000')
    const scrolledUp = async () => {
      await scrollTo('0')
      return shown(page)
    }
    await expect.poll(scrolledUp, { interval: 20 }).toContain('session 100000')
    expect(await drawn()).toBeLessThan(60)
    expect(await findAxeProblems(page)).toEqual([])
    const phone = await browser.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      colorScheme: 'dark',
      storageState: await context.storageState(),
    })
    await started('write dark.txt: 1')
    const { page: small } = await openTab(phone)
    await small.goto(server.url)
    await small.getByRole('button', { name: 'Show sessions' }).click()
    await rowOf(small, 'write dark.txt').getByText('waits').waitFor()
    expect(await findAxeProblems(small)).toEqual([])
    await phone.close()
  })
})
