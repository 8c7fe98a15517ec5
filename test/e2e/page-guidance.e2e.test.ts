import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { enterFolder, usePage } from './page-fixture.ts'

const home = mkdtempSync(join(tmpdir(), 'holdfast-user-'))
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
write('.claude/skills/tides/SKILL.md', '---\ndescription: Reads tide tables.\n---\ncount to 2')
write('.claude/commands/count.md', '---\ndescription: Counts.\nargument-hint: <number>\n---\ncount to $1')
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('skills and slash commands on the page', () => {
  const { now, startSession, atRest, transcript } = usePage({ env: { HOME: home } })
  let page: Page
  beforeEach(() => {
    ;({ page } = now())
  })

  it('keeps a question in sight beside what waits for trust, and trusts nothing unread', async () => {
    const { workdir, complaints } = now()
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(workdir, path)), { recursive: true })
      writeFileSync(join(workdir, path), text)
    }
    put('.holdfast/MEMORY.md', '- use tabs')
    put('.claude/skills/release/SKILL.md', '---\ndescription: Writes release notes.\n---\ncount to 2')
    for (const name of ['a', 'b', 'c', 'd']) put(`.claude/commands/${name}.md`, 'count to 1')
    put('long.txt', 'a line\n'.repeat(200))
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(now().server.url)
    await page.getByRole('textbox', { name: 'Message' }).fill('delete long.txt')
    await enterFolder(page, workdir)
    await page.getByRole('button', { name: 'Start session' }).dblclick()

    const banner = page.getByRole('region', { name: '6 things wait for your trust.' })
    await banner.waitFor()
    expect(await page.getByRole('button', { name: /^Trust / }).count()).toBe(0)
    const approve = page.getByRole('button', { name: 'Approve' })
    await approve.waitFor()
    const composer = page.locator('.composer-box')
    const sizes = [
      { width: 1280, height: 800 },
      { width: 1280, height: 600 },
      { width: 390, height: 844 },
      { width: 390, height: 667 },
    ]
    for (const size of sizes) {
      await page.setViewportSize(size)
      const where = async (part: Locator) => (await part.boundingBox()) ?? { y: Number.NaN, height: Number.NaN }
      const under = async (part: Locator) => (await where(part)).y + (await where(part)).height
      expect(await under(approve)).toBeLessThan((await where(composer)).y)
      expect(await under(composer)).toBeLessThanOrEqual(size.height)
      expect((await where(banner)).height).toBeLessThan(55) // one line
      if (size.height > 700) expect((await where(transcript())).height).toBeGreaterThan(60)
    }

    await banner.getByRole('button', { name: 'Review…' }).dblclick()
    const review = page.getByRole('dialog', { name: 'What this folder brings along' })
    await review.getByText('.claude/commands/a.md').click()
    await review.getByText('count to 1').and(page.locator(':visible')).waitFor()
    await review.getByRole('button', { name: 'Trust command .claude/commands/a.md' }).dblclick()
    await review.getByText('5 things').waitFor()
    await review.getByRole('button', { name: 'Trust all' }).click()
    await page.getByText('for your trust.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Reject' }).click()
    await atRest()
    expect(complaints).toEqual([])
  })

  it('reviews from the panel after "Not now", closes the panel for a question on a phone, and lists commands', async () => {
    const { workdir, complaints } = now()
    mkdirSync(join(workdir, '.claude/skills/release'), { recursive: true })
    writeFileSync(join(workdir, '.claude/skills/release/SKILL.md'), '---\ndescription: Releases.\n---\ncount to 2')
    await page.setViewportSize({ width: 390, height: 844 })
    await startSession('count to 1')
    await atRest()
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByText('for your trust.').waitFor({ state: 'detached' })
    const toggle = page.getByRole('button', { name: 'Files and tasks' })
    await toggle.click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByRole('region', { name: 'Not trusted yet' }).getByText('.claude/skills/release').waitFor()
    await panel.getByRole('button', { name: 'Review release' }).click()
    await page.getByRole('button', { name: 'Trust skill .claude/skills/release' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await panel.getByRole('checkbox', { name: 'release', disabled: false }).waitFor()

    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill('delete hello.txt')
    await box.press('Enter')
    await panel.waitFor({ state: 'detached' })
    const heading = await page.getByRole('heading', { name: 'Make this change?' }).boundingBox()
    const tool = await page.getByRole('region', { name: 'Make this change?' }).getByText('delete_file').boundingBox()
    expect(tool?.y).toBeGreaterThan((heading?.y ?? 0) + (heading?.height ?? 0) - 1)
    await page.getByRole('button', { name: 'Reject' }).click()
    await atRest()

    await page.setViewportSize({ width: 1280, height: 800 })
    await box.fill('/help')
    await box.press('Enter')
    await transcript().getByRole('list', { name: 'Slash commands' }).getByText('/rewind <turn>').waitFor()
    const scroller = page.locator('.transcript')
    expect(await scroller.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await toggle.click()
    await page.reload()
    await panel.waitFor()
    expect(
      await page.evaluate('getComputedStyle(document.querySelector("header [aria-expanded=true]")).backgroundColor'),
    ).not.toBe('rgba(0, 0, 0, 0)')
    expect(complaints).toEqual([])
  })

  it('completes a slash command, shows what was typed, and switches a skill on and off', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await startSession('count to 1')
    await atRest()
    const box = page.getByRole('textbox', { name: 'Message' })
    const menu = page.getByRole('listbox', { name: 'Slash commands' })
    await box.pressSequentially('/cou')
    await menu.getByRole('option', { name: '/count <number>' }).waitFor()
    await page.keyboard.press('Tab')
    await menu.waitFor({ state: 'detached' })
    await box.pressSequentially('3')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'You' }).getByText('/count 3', { exact: true }).waitFor()
    await page.getByRole('article', { name: 'Assistant' }).getByText('1, 2, 3.').waitFor()
    await atRest()
    await page.getByRole('button', { name: 'What the model got' }).click()
    await page.getByText('count to 3', { exact: true }).waitFor()

    await box.pressSequentially('/nothing')
    await page.keyboard.press('Enter')
    await page.getByText('There is no command /nothing.').waitFor()
    expect(await box.inputValue()).toBe('/nothing')
    await box.fill('/')
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    await box.fill('')

    await page.getByRole('button', { name: 'Files and tasks' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByText('Reads tide tables.').waitFor()
    await panel.getByRole('checkbox', { name: 'tides' }).click()
    await panel.getByText('1 active').waitFor()
    await panel.getByRole('checkbox', { name: 'tides', checked: true }).click()
    await panel.getByText('1 active').waitFor({ state: 'detached' })
  })
})
