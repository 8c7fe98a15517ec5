import { escapeHidden } from '@holdfast/protocol'
import { useLayoutEffect, useRef } from 'react'
import { loadOnce } from '../ui/use-loaded.ts'

type Temml = Pick<typeof import('temml'), 'render'>

let loaded: Temml | null = null

const load = loadOnce(async () => {
  loaded = (await import('temml')).default
  return loaded
})

type MathViewProps = { readonly tex: string; readonly isDisplay: boolean }

/** Draws a formula as MathML, with a library that is loaded with the first one. Until it can, and if it is not valid, its source is shown. */
export function MathView({ tex, isDisplay }: MathViewProps) {
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    let isLeft = false
    const draw = (temml: Temml) => {
      if (!isLeft && box.current) drawFormula(temml, box.current, tex, isDisplay)
    }
    if (loaded) draw(loaded)
    else load().then(draw, () => undefined) // offline: the source stays
    return () => {
      isLeft = true
    }
  }, [tex, isDisplay])
  return (
    <code key={`${isDisplay} ${tex}`} ref={box} className={isDisplay ? 'formula display' : 'formula'}>
      {escapeHidden(tex)}
    </code>
  )
}

/** `trust` stays off, so a formula makes no link and sets no class; `maxExpand` bounds its macros. */
function drawFormula(temml: Temml, box: HTMLElement, tex: string, displayMode: boolean): void {
  const made = document.createElement('span')
  try {
    temml.render(tex, made, { displayMode, throwOnError: true, maxExpand: 200, maxSize: [20, 20], trust: false })
  } catch {
    return // not valid, or not complete yet
  }
  box.replaceChildren(...made.childNodes)
  box.classList.add('drawn')
}
