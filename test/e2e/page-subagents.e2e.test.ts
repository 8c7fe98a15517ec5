import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

const wide = { width: 1360, height: 820 }
const phone = { width: 390, height: 844 }

/** Saves a screenshot, if the environment names a folder for it. */
async function picture(page: Page, name: string): Promise<void> {
  const { HOLDFAST_PICTURES: folder } = process.env
  if (folder === undefined) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  }
}

describe('subagents on the page', () => {
  const { now, startSession, atRest, transcript } = usePage()
  let page: Page
  beforeEach(async () => {
    ;({ page } = now())
    await page.setViewportSize(wide)
  })
  const card = () =>
    transcript()
      .first()
      .locator('.tool', { has: page.locator('.child-strip') })
  const pane = () => page.getByRole('region', { name: 'Subagent', exact: true })
  const question = () => page.getByRole('region', { name: 'Make this change?' })

  it('keeps the question of a subagent clear of the queue on a phone', async () => {
    await page.setViewportSize(phone)
    await startSession('delegate write notes.txt: hello')
    await question().waitFor()
    const box = page.getByRole('textbox', { name: 'Message' })
    for (const text of ['list', 'count to 2', 'count to 3']) {
      await box.fill(text)
      await box.press('Enter')
      await page.locator('.queue li', { hasText: text }).waitFor()
    }
    await picture(page, 'phone-queue')
    const approve = question().getByRole('button', { name: 'Approve' })
    const [button, queue] = [await approve.boundingBox(), await page.locator('.queue').boundingBox()]
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(queue?.y ?? 0)
    await approve.click()
    await atRest()
  })

  it('answers the approval of a subagent in the page of its session, and opens it beside', async () => {
    await startSession('delegate write notes.txt: hello')
    await question().getByText('The subagent asks: write notes.txt: hello').waitFor()
    await page.getByRole('status').getByText('Waiting for you').waitFor()
    await card().getByText('needs approval').waitFor()
    await picture(page, 'asked')

    // Beside it the subagent asks itself, and the session does not ask twice.
    await question().getByRole('button', { name: 'Open' }).click()
    await pane().getByRole('heading', { name: 'write notes.txt: hello' }).waitFor()
    await pane().getByRole('article', { name: 'Task' }).getByText('write notes.txt: hello').waitFor()
    await pane().getByRole('button', { name: 'Approve' }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1)
    await picture(page, 'beside')
    const [left, right] = [await transcript().first().boundingBox(), await pane().boundingBox()]
    expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0)
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await card().getByText('done', { exact: true }).first().waitFor()
    await pane().getByRole('article', { name: 'Assistant' }).first().waitFor()
    await picture(page, 'ended')

    // The list has it under its session; it stays open after a reload, and closes.
    const row = page.getByRole('list', { name: 'Sessions' }).locator('.subagent-row', { hasText: 'write notes' })
    expect(await row.getAttribute('aria-current')).toBe('true')
    await page.reload()
    await pane().getByRole('article', { name: 'Assistant' }).first().waitFor()
    await pane().getByRole('button', { name: 'Close the subagent' }).click()
    await pane().waitFor({ state: 'detached' })
    await row.click()
    await pane().getByRole('link', { name: 'Open alone' }).click()
    await pane().waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'write notes.txt: hello' }).waitFor()
    await page.locator('.header-above').getByRole('link').click()
    await card().waitFor()
    expect(now().complaints).toEqual([])
  })

  it('shows the result of a subagent in the background as its result, and lists it in the panel', async () => {
    await startSession('delegate in background count to 3')
    const result = page.getByRole('article', { name: 'Result of a subagent' })
    await result.getByText('1, 2, 3.').waitFor()
    await atRest()
    expect(await result.getByText('subagent_result').count()).toBe(0)
    expect(await page.getByRole('article', { name: 'You' }).count()).toBe(1)
    await page.getByRole('button', { name: 'Files and tasks' }).click()
    const section = page.getByRole('region', { name: 'Subagents' })
    await section.getByText('1 ended').waitFor()
    await section.getByText('done', { exact: true }).waitFor()
    await section.getByText(/background · .* out/).waitFor()
    await picture(page, 'background')
    await result.getByRole('button', { name: 'Open' }).click()
    await pane().getByText('1, 2, 3.').waitFor()
    await page.getByRole('complementary').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Files and tasks' }).click()
    await section.waitFor()
    expect(await pane().count()).toBe(0)
    expect(now().complaints).toEqual([])
  })

  it('stops a running subagent in the background, and not the session', async () => {
    await startSession('delegate in background run sleep 600')
    await atRest()
    await page.getByRole('region', { name: 'Run this command?' }).getByText('The subagent asks').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: '1 subagent at work' }).click()
    const section = page.getByRole('region', { name: 'Subagents' })
    await section.getByText('1 running').waitFor()
    await section.getByText('background · shell').waitFor()
    await picture(page, 'running')
    await section.getByRole('button', { name: 'Stop the subagent run sleep 600' }).click()
    await section.getByText('stopped', { exact: true }).waitFor()
    await page.getByRole('article', { name: 'Result of a subagent' }).getByText('stopped', { exact: true }).waitFor()
    await atRest()
    expect(await page.getByRole('button', { name: /^Stop the subagent/ }).count()).toBe(0)
    expect(now().complaints).toEqual([])
  })

  it('shows a subagent as its own view on a phone, with a way back', async () => {
    await page.setViewportSize(phone)
    await startSession('delegate write notes.txt: hello')
    await question().waitFor()
    await picture(page, 'phone-asked')
    await question().getByRole('button', { name: 'Open' }).click()
    await pane().getByRole('button', { name: 'Approve' }).waitFor()
    await picture(page, 'phone-open')
    expect(await pane().boundingBox()).toMatchObject({ x: 0, y: 0, width: phone.width, height: phone.height })
    expect(await page.getByRole('textbox', { name: 'Message' }).isVisible()).toBe(false)
    await pane()
      .getByRole('button', { name: /^Stop the subagent/ })
      .click()
    await pane().locator('.session-status').getByText('stopped', { exact: true }).waitFor()
    await pane()
      .getByRole('button', { name: /delegate write/ })
      .click()
    await pane().waitFor({ state: 'detached' })
    await card().getByText('stopped', { exact: true }).waitFor()
    await atRest()
    await picture(page, 'phone-back')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
    expect(now().complaints).toEqual([])
  })

  it('lists the agents of a folder among what waits for trust, and names the kind of a subagent', async () => {
    const folder = join(now().workdir, '.claude/agents')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'reviewer.md'), '---\nname: reviewer\ndescription: Reviews.\n---\nList mistakes.')
    await startSession('count to 1')
    await atRest()
    await page.getByRole('button', { name: 'Review…' }).click()
    const review = page.getByRole('dialog', { name: 'What this folder brings along' })
    await review.getByText('.claude/agents/reviewer.md').waitFor()
    await review.getByText('List mistakes.').waitFor()
    await review.getByRole('button', { name: /^Trust agent / }).click()
    await review.waitFor({ state: 'detached' })
  })
})
