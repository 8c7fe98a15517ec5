import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

const run = promisify(execFile)

/** One pixel. */
const picturePng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

describe('files, boundaries and commands on the page', () => {
  const { now, startSession, say, atRest, approve, transcript } = usePage({
    env: { HOLDFAST_SANDBOX: 'off' },
    profile: { hasTouch: true },
  })
  let page: Page
  let workdir: string
  let complaints: readonly string[]
  const git = (...args: readonly string[]) => run('git', args, { cwd: workdir })
  beforeEach(() => {
    ;({ page, workdir, complaints } = now())
  })

  it('shows tasks, changed files, boundaries and rules beside the transcript, and restores files', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await startSession('todo done look; doing fix the lamp; test it')
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByRole('listitem').filter({ hasText: 'fix the lamp' }).getByText('in progress').waitFor()
    await page.getByRole('button', { name: 'Files and tasks 1 of 3 tasks done' }).waitFor()

    await say('read hello.txt')
    await atRest()
    await say('edit hello.txt: hello => goodbye')
    await page.getByRole('radio', { name: 'Always here' }).check()
    await page.getByRole('group', { name: 'Approve for' }).getByText('allow edit_file').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await panel.getByRole('button', { name: 'Show the change of hello.txt, modified' }).click()
    const changes = page.getByRole('dialog', { name: 'Changes of hello.txt' })
    await changes.getByText('+goodbye from the file').waitFor()
    await page.keyboard.press('Escape')
    await say('edit hello.txt: goodbye => welcome') // nobody is asked now
    const diffs = page.getByRole('log', { name: 'Transcript' }).getByRole('figure', { name: 'Diff of hello.txt' })
    await diffs.getByText('+welcome from the file').waitFor()

    await panel.getByRole('button', { name: 'hello.txt', exact: true }).click()
    const lines = page.getByRole('listbox', { name: 'Lines of hello.txt' })
    await lines.getByRole('option', { name: 'welcome from the file' }).click()
    await page.getByRole('button', { name: 'Allow only these lines' }).click()
    await page.getByText('The agent may change only line 1.').waitFor()
    await page.keyboard.press('Escape')
    await panel.getByRole('button', { name: 'Clear the edit boundary of hello.txt' }).click()
    await panel.getByText('line 1').waitFor({ state: 'detached' })

    const undoButton = panel.getByRole('button', { name: 'Undo last restore…' })
    expect(await undoButton.count()).toBe(0)
    await panel.getByRole('button', { name: 'Restore all…' }).click()
    const preview = page.getByRole('list', { name: 'Files that will change' })
    await preview.getByRole('figure', { name: 'Diff of hello.txt' }).getByText('becomes what it was').waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toContain('welcome')
    await page.getByRole('button', { name: 'Restore 1 file' }).click()
    await page.getByText('1 file put back.').waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toBe('hello from the file\n')
    await page.getByText('Every file is as it was before this session.').waitFor()
    await page.getByText('Undo last restore…').waitFor() // behind the dialog
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByLabel('Show the change of hello.txt, modified').waitFor()
    await page.getByText('Undone: 1 file is as before the restore.').waitFor()
    await page.getByRole('button', { name: 'Restore 1 file' }).waitFor()
    expect(await readFile(join(workdir, 'hello.txt'), 'utf8')).toContain('welcome')
    await page.keyboard.press('Escape')

    await panel.getByRole('button', { name: 'Remove the rule allow edit_file' }).click()
    await panel.getByText('No rule: calls that change something ask.').waitFor()
    await panel.getByText('Add a rule').click()
    await panel.getByRole('textbox', { name: 'Pattern' }).fill('.env')
    await panel.getByRole('combobox', { name: 'Verdict' }).selectOption('deny')
    await panel.getByText('is the words of a command, not a path').waitFor()
    await panel.getByRole('textbox', { name: 'Tool' }).fill('*')
    await panel.getByText('It does not cover shell commands').waitFor()
    await panel.getByRole('button', { name: 'Add rule' }).click()
    await panel.getByText('A rule about a path does not cover shell commands').waitFor()
    await panel.getByRole('button', { name: 'Remove the rule deny * .env' }).click()
    await panel.getByText('A rule about a path').waitFor({ state: 'detached' })
    await panel.getByRole('combobox', { name: 'Verdict' }).selectOption('allow')
    await panel.getByRole('textbox', { name: 'Tool' }).fill('shell')
    await panel.getByRole('textbox', { name: 'Pattern' }).fill('git status')
    await panel.getByRole('button', { name: 'Add rule' }).click()
    await panel.getByRole('button', { name: 'Remove the rule allow shell git status' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('shows what the folder offers with its changes, and trusts it; the panel lists the instructions', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const memory = join(workdir, '.holdfast', 'MEMORY.md')
    await mkdir(join(workdir, '.holdfast'))
    await writeFile(memory, '- use tabs\n')
    await writeFile(join(workdir, 'AGENTS.md'), 'Be brief. @style.md')
    await writeFile(join(workdir, 'style.md'), 'No semicolons.')
    await startSession('list')
    await atRest()
    const banner = page.getByRole('region', { name: '1 thing waits for your trust.' })
    const review = page.getByRole('dialog', { name: 'What this folder brings along' })
    await banner.getByRole('button', { name: 'Review…' }).click()
    await review.getByText('- use tabs').waitFor() // few are open at first
    await review.getByRole('button', { name: 'Trust memory .holdfast/MEMORY.md' }).click()
    await review.waitFor({ state: 'detached' }) // and with it the banner
    expect(await banner.count()).toBe(0)
    await writeFile(memory, '- use tabs\n- and no semicolons\n')
    await say('count to 1')
    await atRest()
    await banner.getByRole('button', { name: 'Review…' }).click()
    await review.getByText('changed since you trusted it').waitFor()
    await review.getByText('+- and no semicolons').waitFor()
    await page.keyboard.press('Escape')
    await banner.getByRole('button', { name: 'Not now' }).click()
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Files and tasks' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    const told = panel.getByRole('region', { name: 'Instructions' }).getByRole('listitem')
    await told.nth(1).waitFor()
    expect(await told.allInnerTexts()).toEqual([
      expect.stringMatching(/AGENTS\.md\s+of the workspace/),
      expect.stringMatching(/style\.md\s+imported by AGENTS\.md/),
    ])
    expect(complaints).toEqual([])
  })

  it('says that the panel loads until it knows; notes of an approval wrap on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const held = Promise.withResolvers<void>()
    for (const path of ['**/v1/permissions*', '**/file-changes*'])
      await page.route(path, async (route) => {
        await held.promise
        await route.continue()
      })
    await startSession('list')
    await atRest()
    const toggle = page.getByRole('button', { name: 'Files and tasks' })
    await toggle.click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    for (const name of ['Changed files', 'Permission rules'])
      await panel.getByRole('region', { name }).getByText('Loading…').waitFor()
    const truths = ['No call of this session has changed a file.', 'No rule: calls that change something ask.']
    for (const text of truths) expect(await panel.getByText(text).count()).toBe(0)
    held.resolve()
    for (const text of truths) await panel.getByText(text).waitFor()
    await toggle.click()

    await say(`run in background sleep 1000 # ${'x'.repeat(60)}`)
    const note = page.getByText(', in the background: it goes on after the call')
    await note.waitFor()
    expect(await page.evaluate('getComputedStyle(document.querySelector(".approval .preview-where")).display')).toBe(
      'block',
    )
    const { x = 0, width = 0, height = 0 } = (await note.boundingBox()) ?? {}
    expect([x + width <= 390, height > 30]).toEqual([true, true]) // more than one line
    await page.getByRole('button', { name: 'Reject' }).click()
    await atRest()

    await say('run true')
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await toggle.click()
    await panel
      .getByText('No changed file is on record. What shell commands change is recorded only in a git')
      .waitFor()
    expect(complaints).toEqual([])
  })

  it('shows the picture that a call has read, and which file a call would move', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await writeFile(join(workdir, 'p.png'), Buffer.from(picturePng, 'base64'))
    await startSession('read p.png')
    await atRest()
    const picture = transcript().getByRole('img', { name: 'p.png' })
    const head = transcript().getByRole('button', { name: /read_file/ })
    if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click()
    await picture.waitFor()
    await expect.poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth)).toBe(1)
    const copy = await transcript().getByRole('button', { name: 'Copy' }).first().boundingBox()
    expect([copy?.width, copy?.height].map((size = 0) => size >= 40)).toEqual([true, true]) // for a finger
    await say('move p.png => q.png')
    await page.getByRole('region', { name: 'What will run' }).getByText('moved from p.png').waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Approve' }).click()
    await atRest()
    await page.getByRole('button', { name: 'Files and tasks' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByRole('button', { name: 'Restore… p.png → q.png' }).click()
    const back = page.getByRole('list', { name: 'Files that will change' }).getByRole('listitem')
    await back.getByText('moves back from q.png').waitFor()
    expect(await back.count()).toBe(1)
    await page.getByRole('button', { name: 'Restore 1 file' }).click()
    await page.getByText('1 file put back.').waitFor()
    expect((await readFile(join(workdir, 'p.png'))).toString('base64')).toBe(picturePng)
    await page.keyboard.press('Escape')
    expect(complaints).toEqual([])
  })

  it('lists the commands that run in the background with their output, and stops them', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    const command = 'echo ready; until [ -e more ]; do sleep 0.05; done; echo steady; exec sleep 1000'
    await startSession(`run in background ${command}`)
    await page.getByText(', in the background: it goes on after the call').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: '1 command in the background' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    const row = panel.getByRole('listitem').filter({ hasText: command })
    const output = row.getByRole('group', { name: `Output of ${command}` })
    await output.getByText('ready', { exact: true }).waitFor()
    await row.getByText(/^\d.* s · 6 bytes$/).waitFor()
    await writeFile(join(workdir, 'more'), '')
    await output.getByText('ready\nsteady').waitFor()
    await row.getByRole('button', { name: `Stop ${command}` }).click()
    await row.getByText(/^ended: stopped · \d.* · \d+ bytes$/).waitFor()
    await output.getByText('ready\nsteady').waitFor()
    await page.getByRole('button', { name: '1 command in the background' }).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('shows what a command did to files in its card', async () => {
    await git('init', '-q')
    await git('add', '.')
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
    await startSession('run echo changed; sed -i s/hello/goodbye/ hello.txt; echo new > new.txt')
    await approve()
    await atRest()
    const card = transcript().locator('.tool')
    await card.getByRole('group', { name: 'Result' }).getByText('changed').waitFor()
    await card.getByRole('figure', { name: 'Diff of hello.txt' }).getByText('+goodbye from the file').waitFor()
    await card.getByRole('figure', { name: 'Diff of new.txt' }).getByText('+new').waitFor()
    await page.reload()
    await card.getByRole('figure', { name: 'Diff of hello.txt' }).getByText('+goodbye from the file').waitFor()
    expect(complaints).toEqual([])
  })

  /** Closes the open dialog and goes to the input box at once. Returns what has the focus when the dialog is gone. */
  async function leaveDialogForBox(): Promise<unknown> {
    await page.evaluate(`
      document.querySelector('[role=dialog] header button').click()
      document.querySelector('[aria-label="Message"]').focus()
    `)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    return page.evaluate('document.activeElement.ariaLabel')
  }

  it('offers to put a file back whose lines outside the edit boundary a command changed', async () => {
    const path = join(workdir, 'hello.txt')
    await writeFile(path, 'one\ntwo\nthree\n')
    await startSession('list')
    await atRest()
    await page.getByRole('button', { name: 'Files and tasks' }).click()
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await panel.getByRole('textbox', { name: 'File to open' }).fill('hello.txt')
    await panel.getByRole('button', { name: 'Open file' }).click()
    await page.getByRole('option', { name: 'two' }).click()
    await page.getByRole('button', { name: 'Allow only these lines' }).click()
    await page.getByText('The agent may change only line 2.').waitFor()
    expect(await leaveDialogForBox()).toBe('Message')

    await say('run sed -i s/one/1/ hello.txt')
    await approve()
    await atRest()
    expect(await readFile(path, 'utf8')).toBe('1\ntwo\nthree\n')
    const note = transcript().getByRole('note').filter({ hasText: 'outside the edit boundary of hello.txt' })
    await note.getByRole('button', { name: 'Put back…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Restore files as they were before this call' })
    await dialog.getByRole('figure', { name: 'Diff of hello.txt' }).getByText('+one').waitFor()
    await dialog.getByRole('button', { name: 'Restore 1 file' }).click()
    await dialog.getByText('1 file put back.').waitFor()
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n')
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await dialog.getByText('Undone: 1 file is as before the restore.').waitFor()
    expect(await readFile(path, 'utf8')).toBe('1\ntwo\nthree\n')
    expect(await dialog.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Restore 1 file' }).click()
    await dialog.getByText('1 file put back.').waitFor()
    await page.keyboard.press('Escape')

    await note.getByRole('button', { name: 'Put back…' }).click() // again: nothing is left to do
    await dialog.getByText('There is nothing to restore').waitFor()
    expect(await dialog.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    const suspended = panel
      .getByRole('note')
      .filter({ hasText: 'Suspended: the file was replaced by a link to b.txt.' })
    expect(await suspended.count()).toBe(0)
    await say('run mv hello.txt b.txt; ln -s b.txt hello.txt')
    await approve()
    await atRest()
    await page.getByRole('button', { name: '1 edit boundary' }).click()
    await suspended.waitFor()
    await panel.getByRole('button', { name: 'Clear the edit boundary of hello.txt' }).click()
    await panel.getByText('line 2').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('chooses lines of a file by touch, by keyboard and by number', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await writeFile(join(workdir, 'hello.txt'), Array.from({ length: 60 }, (_, index) => `row ${index + 1}\n`).join(''))
    await startSession('list')
    await atRest()
    await page.getByRole('button', { name: 'Files and tasks' }).tap()
    await page.getByRole('textbox', { name: 'File to open' }).fill('hello.txt')
    await page.getByRole('button', { name: 'Open file' }).tap()
    const dialog = page.getByRole('dialog', { name: 'hello.txt' })
    const row = (number: number) => dialog.getByRole('option', { name: new RegExp(`^${number} ?row ${number}$`) })
    const says = (text: string) => dialog.getByRole('status').getByText(text).waitFor()
    await row(6).tap()
    await says('Chosen: line 6.')
    await row(3).tap()
    await says('Chosen: lines 3–6.')
    expect(await dialog.getByRole('option', { selected: true }).count()).toBe(4)
    await row(9).tap() // starts again
    await says('Chosen: line 9.')

    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+PageDown')
    await says('Chosen: lines 9–30.')
    expect((await row(30).boundingBox())?.y).toBeLessThan(844)
    await page.keyboard.press('Control+a')
    await says('Chosen: lines 1–60.')

    await dialog.getByRole('spinbutton', { name: 'From line' }).focus()
    await page.keyboard.type('12')
    await page.keyboard.press('Tab') // the next field keeps what is typed in it
    await page.keyboard.type('14')
    await page.keyboard.press('Enter')
    await says('Chosen: lines 12–14.')
    await dialog.getByRole('button', { name: 'Allow only these lines' }).tap()
    await says('The agent may change only lines 12–14.')
    expect(complaints).toEqual([])
  })
})
