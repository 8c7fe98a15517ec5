import type { Preview, PreviewSandbox, SessionHandle } from '@holdfast/protocol'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { FileDiff } from '../../diff/file-diff.tsx'
import { PreviewBody } from './preview-view.tsx'

const handle = {} as SessionHandle // a short preview reads nothing

it('says with each command what an approved command can do', () => {
  const preview = { type: 'command' as const, command: 'make', cwd: '/work' }
  const drawn = renderToStaticMarkup(createElement(PreviewBody, { preview, handle }))
  expect(drawn).toContain('An approved command can do what you can do.')
  const draw = (sandbox: PreviewSandbox) =>
    renderToStaticMarkup(createElement(PreviewBody, { preview: { ...preview, sandbox }, handle }))
  expect(draw({ isInForce: false, network: true, reason: 'bwrap is missing' })).toContain(
    'No sandbox (bwrap is missing): an approved command can do what you can do.',
  )
  expect(draw({ isInForce: true, network: false })).toContain(
    'In the sandbox: it writes only the working directory, without the network.',
  )
})

it('says where a command runs, and whether in the background', () => {
  const preview = { type: 'command' as const, command: 'make', cwd: '/work' }
  const draw = (one: Preview) => renderToStaticMarkup(createElement(PreviewBody, { preview: one, handle }))
  expect(draw(preview)).toContain('in <code>/work</code></p>')
  expect(draw({ ...preview, background: true })).toContain('in <code>/work</code>, in the background: it goes on')
})

it('says which file moves', () => {
  const diff = 'rename from src/a.ts\nrename to src/b.ts\n'
  const preview = { type: 'diff' as const, path: 'src/b.ts', diff }
  expect(renderToStaticMarkup(createElement(FileDiff, { handle, preview }))).toContain('moved from src/a.ts')
})
