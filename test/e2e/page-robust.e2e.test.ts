import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

describe('the page when something goes wrong', () => {
  const { now, startSession, atRest, say, turnMenu, openMore, transcript } = usePage({ env: { DEMO_PACE: '1' } })
  const box = () => now().page.getByRole('textbox', { name: 'Message' })

  it('says that a screen could not be loaded, keeps the rest, and loads it by itself once it can', async () => {
    const { page, server } = now()
    await page.route('**/assets/trash-page*', (route) => route.abort())
    // The page asks so whether the server responds.
    await page.route(server.url, (route) => (route.request().method() === 'HEAD' ? route.abort() : route.fallback()))
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'New session' }).waitFor()
    await box().fill('kept over a reload')
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search sessions' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor()
    await page.getByRole('link', { name: 'New session' }).click()
    expect(await box().inputValue()).toBe('kept over a reload')
  })

  it('opens a screen that it has loaded early while the server is away', async () => {
    const { page, server, context } = now()
    const loaded = page.waitForResponse(/assets\/key-list/) // the last of them
    await page.goto(server.url)
    await loaded
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
  })

  it('closes the note about an overlay that could not be loaded', async () => {
    const { page, server } = now()
    await page.route('**/assets/palette*', (route) => route.abort())
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'New session' }).waitFor()
    const note = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    await page.keyboard.press('Control+k')
    await note.waitFor()
    await page.keyboard.press('Escape')
    await note.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await note.getByRole('button', { name: 'Close' }).click()
    await note.waitFor({ state: 'detached' })
  })

  it('keeps the focus in the input after Send, so that a letter answers no question', async () => {
    const { page, server } = now()
    await startSession('count to 2')
    await atRest()
    await say('write asked.txt: hello')
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
    await page.keyboard.press('a')
    expect(await box().inputValue()).toBe('a')
    const holdfast = connectHoldfast(server.url, server.token)
    expect(await holdfast.permissions({})).toEqual([])
    // Escape in the field of the reason leaves the field, and stops nothing.
    await page.getByRole('textbox', { name: 'Reason for rejecting' }).press('Escape')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    // Without asking from now on; the question that waits still does.
    await box().fill('')
    await page.getByRole('button', { name: 'Asks before changes' }).click()
    await page.getByRole('menuitemradio', { name: 'Never asks' }).click()
    await page.getByRole('button', { name: 'Never asks' }).waitFor()
    await page.getByRole('button', { name: 'Reject' }).click()
    await atRest()
    await say('write free.txt: unasked')
    await atRest()
    expect(await readFile(join(now().workdir, 'free.txt'), 'utf8')).toContain('unasked')
    await transcript().getByText('this session never asks').waitFor()
  })

  it('keeps the open question in sight, with its buttons and Stop, however many wait and however low the screen is', async () => {
    const { page } = now()
    await startSession(Array.from({ length: 12 }, (_, index) => `write f${index}.txt: hello`).join('\n'))
    await page.getByRole('button', { name: 'and 8 more' }).waitFor()
    const isSeen = async (name: string) => {
      const area = await page
        .getByRole('button', { name, exact: true })
        .or(page.getByRole('button', { name }))
        .first()
        .boundingBox()
      return area !== null && area.y >= 0 && area.y + area.height <= (page.viewportSize()?.height ?? 0)
    }
    expect([await isSeen('Approve'), await isSeen('Reject'), await isSeen('Stop')]).toEqual([true, true, true])
    await page.setViewportSize({ width: 844, height: 390 })
    await expect.poll(() => isSeen('Stop')).toBe(true)
    await page.setViewportSize({ width: 390, height: 480 })
    await expect.poll(() => isSeen('Stop')).toBe(true)
  })

  it('closes the menu of the session below the dialog that it opens', async () => {
    const { page } = now()
    await startSession('count to 2')
    await atRest()
    await (await openMore()).getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByRole('dialog', { name: 'Rename the session' }).waitFor()
    await page.getByRole('menu', { name: 'This session' }).waitFor({ state: 'detached' })
  })

  it('keeps a session in the list that is rewound to before its first prompt', async () => {
    const { page } = now()
    await startSession('count to 2')
    await atRest()
    await (await turnMenu(0)).getByRole('menuitem', { name: 'Rewind to here' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind', exact: true }).click()
    await page.getByRole('heading', { name: 'Rewound to the start' }).waitFor()
    await page.getByRole('list', { name: 'Sessions' }).getByText('Rewound to the start').waitFor()
    expect(await page.getByRole('button', { name: 'Latest' }).count()).toBe(0)
  })

  it('says that a session was deleted elsewhere, and restores it', async () => {
    const { page, server } = now()
    await startSession('count to 2')
    await atRest()
    const id = page.url().split('/s/').at(-1) ?? ''
    await connectHoldfast(server.url, server.token).delete(id, { force: true })
    await page.getByText('This session is in the trash.').waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await box().waitFor()
    await say('count to 3')
    await transcript().getByText('1, 2, 3.', { exact: true }).waitFor()
  })

  it('shows how to log in as soon as the server refuses the login', async () => {
    const { page, context } = now()
    await startSession('count to 2')
    await atRest()
    await context.clearCookies()
    await say('count to 3')
    await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
  })
})
