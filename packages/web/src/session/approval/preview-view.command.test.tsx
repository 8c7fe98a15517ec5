import type { PreviewSandbox } from '@holdfast/protocol'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { PreviewBody } from './preview-view.tsx'

it('says with each command what an approved command can do', () => {
  const preview = { type: 'command' as const, command: 'make', cwd: '/work' }
  const drawn = renderToStaticMarkup(createElement(PreviewBody, { preview }))
  expect(drawn).toContain('An approved command can do what you can do.')
  const draw = (sandbox: PreviewSandbox) =>
    renderToStaticMarkup(createElement(PreviewBody, { preview: { ...preview, sandbox } }))
  expect(draw({ isInForce: false, network: true, reason: 'bwrap is missing' })).toContain(
    'No sandbox (bwrap is missing): an approved command can do what you can do.',
  )
  expect(draw({ isInForce: true, network: false })).toContain(
    'In the sandbox: it writes only the working directory, without the network.',
  )
})
