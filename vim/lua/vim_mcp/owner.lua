-- Who owns a path: Vimscript cannot tell.
local uv = vim.uv or vim.loop
local M = {}

-- For each path {type, uid, mode} without following a last symbolic link, or an
-- empty table.
function M.tell(paths)
  local told = {}
  for i, path in ipairs(paths) do
    local stat = path ~= '' and uv.fs_lstat(path) or nil
    told[i] = stat and { type = stat.type, uid = stat.uid, mode = stat.mode % 512 }
      or vim.empty_dict()
  end
  return told
end

-- Modification time and size of `path` as a string, '' when there is no file.
function M.stamp(path)
  local stat = uv.fs_stat(path)
  return stat and string.format('%d.%09d %d', stat.mtime.sec, stat.mtime.nsec, stat.size) or ''
end

return M
