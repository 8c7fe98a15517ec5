import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

/** The label of what has the focus. */
const focused = (page: Page) => page.evaluate<string>(`document.activeElement?.getAttribute('aria-label') ?? ''`)

describe('what a gesture on the page leads to', () => {
  const { now, startSession, atRest, say, transcript } = usePage({
    env: { DEMO_PACE: '1' },
    profile: { viewport: { width: 1200, height: 420 } },
  })
  const latest = () => now().page.getByRole('button', { name: 'Latest ↓' })
  const scrollUp = async () => {
    await now().page.locator('.transcript').hover()
    await now().page.mouse.wheel(0, -10_000)
    await latest().waitFor()
  }
  const talk = async () => {
    await startSession('count to 3')
    await atRest()
    for (const text of ['count to 4', 'count to 5', 'count to 6']) {
      await say(text)
      await atRest()
    }
  }

  it('goes to the end when a person sends while they read above', async () => {
    await talk()
    await scrollUp()
    await say('count to 7')
    await latest().waitFor({ state: 'detached' })
    await expect.poll(() => transcript().getByText('count to 7').isVisible()).toBe(true)
    await atRest()
  })

  it('offers no way to the end when all is in sight', async () => {
    await talk()
    await scrollUp()
    await now().page.setViewportSize({ width: 1200, height: 3000 })
    await latest().waitFor({ state: 'detached' })
  })

  it('sends an edited prompt with Enter, makes a line with Shift+Enter, and gives the focus to the message box', async () => {
    const { page } = now()
    await startSession('count to 2')
    await atRest()
    await transcript().getByRole('button', { name: 'Edit prompt' }).click()
    const edit = page.getByRole('textbox', { name: 'Prompt' })
    await edit.fill('count to 3')
    await edit.press('Shift+Enter')
    expect(await edit.inputValue()).toBe('count to 3\n')
    await edit.press('Enter')
    await edit.waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Message')
    await atRest()
    const again = transcript().getByRole('button', { name: 'Try again' })
    await again.focus()
    await again.press('Enter')
    await expect.poll(() => focused(page)).toBe('Message')
    await atRest()
  })

  it('gives the focus to the message box when the last question was answered by a key', async () => {
    const { page } = now()
    await startSession('write asked.txt: hello')
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
    await page.locator('.approval').focus()
    await page.keyboard.press('n')
    await page.locator('.approval').waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Message')
  })
})

describe('the start page', () => {
  const { now } = usePage()

  it('shows a file that is called an image and is none as a file', async () => {
    const { page, server } = now()
    await page.goto(server.url)
    const file = { name: 'no-image.png', mimeType: 'image/png', buffer: Buffer.from('only text') }
    await page.locator('input[type="file"]').first().setInputFiles(file)
    const shown = page.getByRole('list', { name: 'Attached files' })
    await shown.locator('.draft-file-kind').getByText('png', { exact: true }).waitFor()
    expect(await shown.locator('img').count()).toBe(0)
  })
})

describe('the list on a phone', () => {
  const { now } = usePage({ profile: { viewport: { width: 390, height: 800 } } })

  it('closes with Escape, and gives the focus back to its button', async () => {
    const { page, server } = now()
    await page.goto(server.url)
    const open = page.getByRole('button', { name: 'Show sessions' })
    await open.click()
    const isOpen = () => page.locator('.app.list-open').count()
    await expect.poll(isOpen).toBe(1)
    await page.keyboard.press('Escape')
    await expect.poll(isOpen).toBe(0)
    expect(await focused(page)).toBe('Show sessions')
  })
})
