import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAxeProblems } from './axe.ts'
import { enterFolder, usePage } from './page-fixture.ts'

/** Takes a picture if `PAGE_SHOTS` names a folder. */
const picture = async (page: Page, name: string) => {
  const shots = process.env['PAGE_SHOTS']
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

describe('starting a session on the page', () => {
  const { now, transcript, atRest, startSession } = usePage({
    prepare: async (home) => {
      await mkdir(join(home, 'config', 'commands'), { recursive: true })
      await writeFile(join(home, 'config', 'commands', 'tidy.md'), '---\ndescription: tidy up\n---\nTidy up here.')
    },
  })

  it('says on the first run what is configured and what to do, and its suggestions work with the demo model', async () => {
    const { page, server, workdir, complaints } = now()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(server.url)
      const steps = page.getByRole('list', { name: 'First steps' }).getByRole('listitem')
      await expect.poll(() => steps.count()).toBe(3)
      await expect.poll(() => page.getByRole('combobox', { name: 'Folder' }).inputValue()).toBe(process.cwd())
      expect(await steps.nth(1).textContent()).toContain(process.cwd())
      await expect
        .poll(() => steps.nth(1).textContent())
        .toMatch(/File tools stay inside it\. (Commands|No command) run/)
      expect(await steps.nth(0).textContent()).toMatch(/Demo, built in is used by default.*needs no key.*Add a key/)
      expect(await findAxeProblems(page)).toEqual([])
    }
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findAxeProblems(page)).toEqual([])
    await enterFolder(page, workdir)
    const suggestions = page.getByRole('list', { name: 'Suggestions' }).getByRole('button')
    expect(await suggestions.count()).toBe(3)
    await suggestions.nth(2).click()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toMatch(/^Write hello\.txt/)
    await suggestions.nth(0).click()
    await page.getByRole('button', { name: 'Start session' }).click()
    await transcript().getByText('hello.txt').first().waitFor()
    await atRest()
    expect(complaints).toEqual([])
  })

  it('completes the folder, offers recent ones, and search does not change what is started', async () => {
    const { page, server, workdir } = now()
    await mkdir(join(workdir, 'deep', 'inside'), { recursive: true })
    await startSession('count to 1')
    await atRest()
    await page.goto(server.url)
    const folder = page.getByRole('combobox', { name: 'Folder' })
    await expect.poll(() => folder.inputValue()).toBe(await realpath(workdir))
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing has this text')
    await page
      .getByText(/No session|Nothing/)
      .first()
      .waitFor()
    expect(await folder.inputValue()).toBe(await realpath(workdir))
    await folder.fill(`${workdir}/de`)
    await page.getByRole('option', { name: `${workdir}/deep` }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await folder.inputValue()).toMatch(/\/deep\/?$/)
    await folder.fill(`${workdir}/deep/i`)
    await page.getByRole('option', { name: /inside/ }).click()
    expect(await folder.inputValue()).toMatch(/\/deep\/inside\/?$/)
    await folder.fill('')
    await page
      .getByRole('option', { name: /recent$/ })
      .first()
      .waitFor()
    expect(await findAxeProblems(page, '.options')).toEqual([])
  })

  it('keeps the folder that was typed when Escape closes its list, and when there is no list', async () => {
    const { page, server, workdir } = now()
    await mkdir(join(workdir, 'deep'))
    await page.goto(server.url)
    const folder = page.getByRole('combobox', { name: 'Folder' })
    await folder.fill(`${workdir}/`)
    await page.getByRole('listbox').waitFor()
    await folder.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
    expect(await folder.inputValue()).toBe(`${workdir}/`)
    await folder.press('Escape')
    await folder.press('Escape')
    expect(await folder.inputValue()).toBe(`${workdir}/`)
  })

  it('completes files and commands of the chosen folder in the first prompt', async () => {
    const { page, server, workdir, complaints } = now()
    await mkdir(join(workdir, 'notes'))
    await writeFile(join(workdir, 'notes', 'lamp.md'), 'the lamp is on')
    await page.goto(server.url)
    await enterFolder(page, workdir)
    const box = page.getByRole('textbox', { name: 'Message' })
    const files = page.getByRole('listbox', { name: 'Files' })
    await box.pressSequentially('read @la')
    await files.getByRole('option', { name: 'notes/lamp.md' }).waitFor()
    expect(await findAxeProblems(page, '.new-session')).toEqual([])
    await picture(page, 'start-files')
    await page.keyboard.press('Tab')
    expect(await box.inputValue()).toBe('read @notes/lamp.md ')
    await files.waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await box.fill('/ti')
    await page
      .getByRole('listbox', { name: 'Slash commands' })
      .getByRole('option', { name: /^\/tidy/ })
      .waitFor()
    await picture(page, 'start-commands-phone')
    await page.keyboard.press('Escape') // closes the list, and keeps the text
    expect(await box.inputValue()).toBe('/ti')
    await box.fill('read @notes/lamp.md')
    await files.waitFor() // it covers nothing of the form that a person needs
    await page.getByRole('button', { name: 'Start session' }).click()
    await transcript().getByText('read @notes/lamp.md').waitFor()
    expect(complaints).toEqual([])
  })

  it('starts with the chosen model, thinking level, mode and permissions', async () => {
    const { page, server, workdir, complaints } = now()
    await writeFile(join(workdir, 'plan.txt'), 'a plan')
    await page.goto(server.url)
    await enterFolder(page, workdir)
    await page.getByRole('combobox', { name: /^Model: / }).click()
    const search = page.getByRole('combobox', { name: 'Search: Model' })
    await search.fill('opus')
    const options = page.getByRole('option')
    await expect.poll(async () => (await options.allTextContents()).every((text) => /opus/i.test(text))).toBe(true)
    expect(await options.first().textContent()).toMatch(/context.*\$\d.* in, \$\d.* out per 1M tokens/)
    expect(await findAxeProblems(page, '.picker')).toEqual([])
    await search.fill('demo')
    await page.getByRole('option', { name: /demo\/agent/ }).click()
    await page.getByRole('button', { name: 'Thinking: off' }).click()
    await page.getByRole('menuitemradio', { name: /^High/ }).click()
    await page.getByRole('button', { name: 'Asks before changes' }).click()
    await page.getByRole('menuitemradio', { name: /^Asks before every call/ }).click()
    await page.getByRole('group', { name: 'Mode' }).getByRole('button', { name: 'Plan' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('read plan.txt')
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('button', { name: 'Approve' }).click() // even to read
    await transcript().getByText('a plan').first().waitFor()
    const id = /#\/s\/(\w+)/.exec(page.url())?.[1] ?? ''
    const handle = await server.sessions.open(id)
    const state = handle.ok ? await handle.value.state(['model', 'thinkingLevel', 'mode']) : handle
    expect(state).toMatchObject({ value: { model: 'demo/agent', thinkingLevel: 'high', mode: 'plan' } })
    expect(complaints).toEqual([])
  })

  it('keeps what was written and attached when a person looks at a session and comes back', async () => {
    const { page, server, workdir } = now()
    await startSession('count to 2')
    await atRest()
    await page.goto(server.url)
    const box = page.getByRole('textbox', { name: 'Message' })
    const files = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
    await box.fill('half a thought')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach files' }).click()
    await (await chooser).setFiles(join(workdir, 'hello.txt'))
    await files.getByText('hello.txt').waitFor()
    await expect.poll(() => files.locator('progress').count()).toBe(0)
    await page
      .getByRole('list', { name: 'Sessions' })
      .getByRole('link', { name: /count to 2/ })
      .first()
      .click()
    await transcript().getByText('1, 2.', { exact: true }).waitFor()
    expect([await box.inputValue(), await files.count()]).toEqual(['', 0]) // another draft
    await page.getByRole('link', { name: 'New session' }).click()
    await page.getByRole('button', { name: 'Start session' }).waitFor()
    expect(await box.inputValue()).toBe('half a thought')
    await files.getByText('hello.txt').waitFor()
    await page.reload()
    expect(await box.inputValue()).toBe('half a thought')
    await files.getByText('hello.txt').waitFor()
  })
})
