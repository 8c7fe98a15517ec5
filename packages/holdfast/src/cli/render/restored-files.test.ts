import { expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { describePreview } from './restored-files.ts'

it('marks the rest of a long line that would change, so that it cannot pass for a line of the diff', () => {
  const words = 'aaaa bbbb cccc dddd eeee ffff gggg'
  const file = { path: 'x', action: 'restore', diff: `@@ -0,0 +1 @@\n+${words} -password = required\n` } as const
  const preview = { files: [file], refused: [] }
  expect(describePreview(preview as never, { paint: createPaint(false), columns: 40 })).toBe(
    `restore: x\n@@ -0,0 +1 @@\n+${words} \n↳ -password = required\n`,
  )
})
