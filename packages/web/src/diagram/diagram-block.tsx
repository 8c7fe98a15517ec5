import { escapeLine } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { CodeBlock } from '../code/code-block.tsx'
import { CopyButton } from '../code/copy-button.tsx'
import { useAppearance, useIsDark } from '../settings/appearance.ts'
import { drawDiagram } from './draw-diagram.ts'

type DiagramBlockProps = { readonly source: string; readonly isOpen: boolean }

/** Shows the source of a diagram, and draws it if a person asks for it here or in the settings. */
export function DiagramBlock({ source, isOpen }: DiagramBlockProps) {
  const { diagrams } = useAppearance()
  const [asked, setAsked] = useState<boolean | null>(null)
  const isDrawn = !isOpen && (asked ?? diagrams === 'show')
  const picture = useDiagram(source, isDrawn)
  const fault = isDrawn ? picture.fault : null
  const button = !isOpen && (
    <button type="button" className="quiet" onClick={() => setAsked(!isDrawn)}>
      {isDrawn ? 'Show source' : 'Show diagram'}
    </button>
  )
  if (!isDrawn || fault !== null)
    return (
      <>
        <CodeBlock language="mermaid" text={source} isOpen={isOpen} action={fault === null && button} />
        {fault !== null && (
          <p className="fault" role="alert">
            The diagram cannot be drawn: {escapeLine(fault)}
          </p>
        )}
      </>
    )
  return (
    <figure className="code diagram">
      <figcaption>
        <span>diagram</span>
        {button}
        <CopyButton text={() => source} label="Copy source" />
      </figcaption>
      <div className="diagram-box" data-scrollable aria-busy={picture.url === null}>
        {picture.url === null ? (
          <p role="status">Drawing the diagram…</p>
        ) : (
          <img src={picture.url} alt={`Diagram. Its source: ${source}`} />
        )}
      </div>
    </figure>
  )
}

type Picture = { readonly url: string | null; readonly fault: string | null }

const noPicture: Picture = { url: null, fault: null }

/** Returns the picture of a diagram once it is drawn, in the colours of the theme. */
function useDiagram(source: string, isWanted: boolean): Picture {
  const isDark = useIsDark()
  const [picture, setPicture] = useState(noPicture)
  useEffect(() => {
    if (!isWanted) return
    let url: string | null = null
    let isLeft = false
    drawDiagram({ source, isDark }).then((answer) => {
      if (isLeft) return
      if ('fault' in answer) return setPicture({ url: null, fault: answer.fault })
      url = URL.createObjectURL(new Blob([answer.svg], { type: 'image/svg+xml' }))
      setPicture({ url, fault: null })
    })
    return () => {
      isLeft = true
      setPicture(noPicture)
      if (url !== null) URL.revokeObjectURL(url)
    }
  }, [source, isDark, isWanted])
  return picture
}
