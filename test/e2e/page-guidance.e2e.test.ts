import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

const home = mkdtempSync(join(tmpdir(), 'holdfast-user-'))
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
write('.claude/skills/tides/SKILL.md', '---\ndescription: Reads tide tables.\n---\ncount to 2')
write('.claude/commands/count.md', '---\ndescription: Counts.\nargument-hint: <number>\n---\ncount to $1')
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('skills and slash commands on the page', () => {
  const { now, startSession, atRest } = usePage({ env: { HOME: home } })
  let page: Page
  beforeEach(() => {
    ;({ page } = now())
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

    await page.getByRole('button', { name: 'Panel' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByText('Reads tide tables.').waitFor()
    await panel.getByRole('checkbox', { name: 'tides' }).click()
    await panel.getByText('1 active').waitFor()
    await panel.getByRole('checkbox', { name: 'tides', checked: true }).click()
    await panel.getByText('1 active').waitFor({ state: 'detached' })
  })
})
