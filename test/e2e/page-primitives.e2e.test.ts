import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { invariant } from '@holdfast/protocol'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerHeaders } from '../../packages/holdfast/src/server/app.ts'
import { findAxeProblems } from './axe.ts'
import { openBrowser } from './browser.ts'
import { openTab } from './page-fixture.ts'

const web = resolve(import.meta.dirname, '../../packages/web')
const types: { readonly [extension: string]: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

/** Serves a folder with the headers of the real server, its content policy among them. */
async function serve(folder: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname
    for (const [name, value] of answerHeaders) response.setHeader(name, value)
    const text = await readFile(join(folder, path)).catch(() => null)
    response.writeHead(text === null ? 404 : 200, { 'content-type': types[extname(path)] ?? 'text/plain' })
    response.end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  invariant(address !== null && typeof address === 'object', 'the server listens')
  return { url: `http://127.0.0.1:${address.port}/components.html`, server }
}

describe('the primitives of the page, by keyboard and under its content policy', () => {
  let browser: Browser
  let server: Server
  let url: string
  let folder: string
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-components-'))
    const built = build({
      root: web,
      configFile: join(web, 'vite.config.ts'),
      logLevel: 'error',
      build: {
        outDir: folder,
        emptyOutDir: true,
        minify: false,
        rolldownOptions: { input: join(web, 'components.html') },
      },
    })
    ;[browser] = await Promise.all([openBrowser(), built])
    ;({ url, server } = await serve(folder))
  })
  afterAll(async () => {
    await browser.close()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    const context = await browser.newContext()
    ;({ page, complaints } = await openTab(context))
    await page.goto(url)
  })
  afterEach(async () => {
    await page.context().close()
  })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const picker = (fruit: string) => page.getByRole('combobox', { name: `Fruit: ${fruit}` })
  const last = () => page.getByRole('status', { name: 'Last action' }).textContent()
  const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.ariaLabel')

  it('moves in a menu with arrows and letters, chooses with Enter, and gives the focus back', async () => {
    await button('Menu').focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('menu', { name: 'Actions' })
    await menu.waitFor()
    await expect.poll(focused).toContain('Rename')
    await page.keyboard.press('f')
    await expect.poll(focused).toContain('Fork')
    await page.keyboard.press('Enter')
    await menu.waitFor({ state: 'detached' })
    expect([await last(), await focused()]).toEqual(['forked', 'Menu'])
    await page.keyboard.press('Enter')
    await menu.waitFor()
    expect(await menu.getByRole('menuitem', { name: 'Compact' }).getAttribute('aria-disabled')).toBe('true')
    expect(await findAxeProblems(page)).toEqual([])
    await page.keyboard.press('e')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('menuitem', { name: 'Markdown' }).waitFor()
    await page.keyboard.press('Enter')
    await menu.waitFor({ state: 'detached' })
    expect(await last()).toBe('exported')
    await button('Menu').click()
    await menu.getByRole('menuitemradio', { name: 'Apple' }).click()
    await picker('apple').waitFor()
    expect(complaints).toEqual([])
  })

  it('opens the menu of an element with a right click', async () => {
    await button('Right click here').click({ button: 'right' })
    const menu = page.getByRole('menu', { name: 'Actions here' })
    await menu.getByRole('menuitem', { name: 'Rename' }).click()
    await menu.waitFor({ state: 'detached' })
    expect([await last(), ...complaints]).toEqual(['renamed'])
  })

  it('keeps the focus inside a dialog, and gives it back when Escape closes it', async () => {
    await button('Dialog').click()
    const dialog = page.getByRole('dialog', { name: 'A dialog' })
    await dialog.waitFor()
    for (let step = 0; step < 4; step++) {
      await page.keyboard.press('Tab')
      await expect.poll(() => page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true)
    }
    expect(await findAxeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Dialog')
    await button('Confirm').click()
    const confirm = page.getByRole('alertdialog', { name: 'Delete this?' })
    await confirm.getByText('It can be restored').waitFor()
    await expect.poll(focused).toBe('Cancel')
    await page.mouse.click(4, 4) // beside it
    await confirm.getByRole('button', { name: 'Delete' }).click()
    await confirm.waitFor({ state: 'detached' })
    expect([await last(), ...complaints]).toEqual(['deleted'])
  })

  it('opens a popover, shows a tooltip on focus, turns a switch and undoes by a toast', async () => {
    await button('Popover').click()
    const popover = page.getByRole('dialog', { name: 'A popover' })
    await popover.getByRole('button', { name: 'Press' }).click()
    expect(await last()).toBe('pressed inside')
    await page.keyboard.press('Escape')
    await popover.waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await page.getByText('Explains the button').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Explains the button').waitFor({ state: 'detached' })
    const sounds = page.getByRole('switch', { name: 'Sounds' })
    await sounds.focus()
    await page.keyboard.press('Space')
    expect(await sounds.isChecked()).toBe(true)
    await button('Toast').click()
    await page.getByText('Moved').waitFor()
    expect(await findAxeProblems(page)).toEqual([])
    await button('Undo').click()
    await expect.poll(last).toBe('undone')
    expect(complaints).toEqual([])
  })

  it('takes a suggestion or any text, and searches in a list of choices', async () => {
    const folder = page.getByRole('combobox', { name: 'Folder' })
    await folder.fill('/projects')
    await page.getByRole('option', { name: '/projects/two' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await folder.inputValue()).toBe('/projects/two')
    await folder.fill('/else')
    await page.keyboard.press('Enter')
    expect(await folder.inputValue()).toBe('/else')
    await picker('pear').click()
    await page.getByRole('combobox', { name: 'Search: Fruit' }).fill('APP')
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['apple'])
    expect(await findAxeProblems(page)).toEqual([])
    await page.keyboard.press('Enter')
    await picker('apple').waitFor()
    expect(complaints).toEqual([])
  })

  it('shows the parts of all screens together, in light and dark', async () => {
    for (const name of ['Colours and type', 'Buttons, states and notes', 'Questions', 'Text, folds and changes'])
      await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.getByText('Why you are asked: your rule `npm publish` asks.').waitFor()
    await page.getByRole('figure', { name: 'Diff of src/lamp.ts' }).last().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await findAxeProblems(page)).toEqual([])
    }
    expect(complaints).toEqual([])
  })
})
