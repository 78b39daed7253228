// Numbers of the page's data: base64 of little-endian arrays.
function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
  return out.buffer;
}

export const floats = (text) => new Float32Array(bytes(text));
export const indices = (text, wide) => (wide ? new Uint32Array(bytes(text)) : new Uint16Array(bytes(text)));
