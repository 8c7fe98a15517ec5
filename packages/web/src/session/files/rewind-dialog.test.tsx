import type { RestorePreview } from '@holdfast/protocol'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { SessionContext } from '../state/session-context.ts'
import { RewoundFiles } from './rewind-dialog.tsx'

it('offers no checkbox if no file can be put back', () => {
  const refused = [{ path: 'lamp.bin', why: 'It is too large.' }]
  const preview = { files: [], refused } as unknown as RestorePreview // what the dialog reads of it
  const files = createElement(RewoundFiles, { preview, isChosen: false, onChoose: () => undefined })
  const drawn = renderToStaticMarkup(createElement(SessionContext, { value: {} as never }, files)) // nothing of it is read
  expect(drawn).toContain('lamp.bin')
  expect(drawn).not.toContain('checkbox')
})
