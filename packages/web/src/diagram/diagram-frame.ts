import mermaid from 'mermaid'
import type { DiagramAnswer, DiagramRequest } from './draw-diagram.ts'

// This program runs in a frame of its own: it sets inline styles to measure text, which the policy of the page refuses.
// The page gets the picture as text, and shows it as an image, which runs nothing and loads nothing.

const sourceCharsMax = 50_000

let drawn = 0

async function draw({ source, isDark }: DiagramRequest): Promise<DiagramAnswer> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    maxTextSize: sourceCharsMax,
    suppressErrorRendering: true,
    htmlLabels: false,
    look: 'classic',
    theme: isDark ? 'dark' : 'neutral',
    fontFamily: 'system-ui, sans-serif',
  })
  try {
    const { svg } = await mermaid.render(`diagram-${++drawn}`, source)
    return { svg: withSize(svg) }
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n') // then its source follows
    return { fault: reason }
  }
}

/** Gives the picture the size of its content: an image without a size is drawn 300 px wide. */
function withSize(svg: string): string {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
  const [, , width, height] = (root.getAttribute('viewBox') ?? '').split(/\s+/)
  if (width && height) {
    root.setAttribute('width', width)
    root.setAttribute('height', height)
  }
  return new XMLSerializer().serializeToString(root)
}

addEventListener('message', ({ data, source, origin, ports: [port] }: MessageEvent<DiagramRequest>) => {
  if (source === parent && origin === location.origin && port)
    void draw(data).then((answer) => port.postMessage(answer))
})
parent.postMessage('ready', location.origin)
